-- cancel_look: which of some jobs have not ended, and where they stand.
select id, type, status, attempts, tenant, group_key, cancel_requested_at is not null from job_queue
where id in (select value from json_each(:ids)) and +status in ('queued', 'in_progress', 'awaiting_auth')
order by id
