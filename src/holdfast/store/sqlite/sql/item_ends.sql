-- item_ends: jobs that are items have ended: so have their items.
insert into job_items (batch, number, job_id, status, result, error)
select batch, item, id, case status when 'completed' then 'done' else 'failed' end, result, error from job_queue
where id in (select value from json_each(:ids)) and batch is not null and item is not null
on conflict (batch, number) do update
set job_id = excluded.job_id, status = excluded.status, result = excluded.result, error = excluded.error
