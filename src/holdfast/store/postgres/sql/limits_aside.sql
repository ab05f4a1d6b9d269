-- limits_aside: jobs that no worker takes leave a line to those behind them for a while.
update job_queue set lane = :aside where id in (
    select id from job_queue
    where status = 'queued' and lane is not null and (held = 32 or held = 33) and lane = :key
        and queue = :queue and type = :type and payload_version = :payload_version
    order by priority, scheduled_at, id limit :limit for update skip locked)
returning id
