-- stopping: runs are about to be cancelled; their handlers are at work until somebody says that they have stopped.
insert into job_stopping (job_id, token, until)
select id, lease_token, lease_until from job_queue where id = any (:ids::text[]) and lease_until is not null
on conflict do nothing
