-- newest_of: whether a job has a coalesce key, and which.
select tenant, type, coalesce_key, sequence from job_queue where id = :id and coalesce_key is not null
