-- item_ends: jobs that are items have ended: so have their items.
insert into job_items (batch, number, job_id, status, result, error)
select batch, item, id, case status when 'completed' then 'done' else 'failed' end, result, error from job_queue
where id = any (array (select json_array_elements_text(:ids::json))) and batch is not null and item is not null
order by batch, item
on conflict (batch, number) do update
set job_id = excluded.job_id, status = excluded.status, result = excluded.result, error = excluded.error
