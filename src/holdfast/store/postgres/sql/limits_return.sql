-- limits_return: jobs that stood aside go back to their line.
update job_queue set lane = :key where id in (
    select id from job_queue
    where status = 'queued' and lane is not null and (held = 32 or held = 33) and lane = :aside limit :limit for update skip locked)
returning id
