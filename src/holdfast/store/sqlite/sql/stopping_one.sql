-- stopping_one: a run is about to be cancelled; its handler is at work until somebody says that it has stopped.
insert into job_stopping (job_id, token, until)
select id, lease_token, lease_until from job_queue
where id = :id and (:tenant is null or tenant = :tenant) and status = 'in_progress'
on conflict do nothing
