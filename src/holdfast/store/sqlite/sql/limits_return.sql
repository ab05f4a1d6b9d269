-- limits_return: jobs that stood aside go back to their line.
update job_queue set lane = :key where id in (
    select id from job_queue indexed by job_queue_lane
    where status = 'queued' and lane is not null and (held = 32 or held = 33) and lane = :aside limit :limit)
returning id
