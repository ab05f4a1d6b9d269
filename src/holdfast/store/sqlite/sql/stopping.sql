-- stopping: runs are about to be cancelled; their handlers are at work until somebody says that they have stopped.
insert into job_stopping (job_id, token, until)
select id, lease_token, lease_until from job_queue where id in (select value from json_each(:ids)) and +status = 'in_progress'
on conflict do nothing
