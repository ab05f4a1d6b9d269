-- limits_aside: jobs that no worker takes leave a line to those behind them for a while. Only the front of it is looked
-- through.
update job_queue set lane = :aside where id in (
    select id from (
        select id, queue, type, payload_version from job_queue
        where status = 'queued' and lane is not null and (held = 32 or held = 33) and lane = :key
        order by priority, scheduled_at, id
        limit 5000
        for update skip locked
    ) as front
    where queue = :queue and type = :type and payload_version = :payload_version
    limit :limit)
returning id
