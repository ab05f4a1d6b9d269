-- depth: how many jobs wait in a queue, counted up to a cap. The order keeps the planner from walking the table.
select least(:cap, (
    select count(*) from (
        select from job_queue where status = 'queued' and held = 0 and queue = :queue
        order by queue, type, payload_version, priority, scheduled_at, id
        limit :cap
    ) as counted
) + (
    select count(*) from (
        select from job_queue where status = 'queued' and held = 1 and queue = :queue limit :cap
    ) as alone
) + (
    select count(*) from (
        select from job_queue
        where status = 'queued' and lane is not null and (held = 32 or held = 33) and queue = :queue
        limit :cap
    ) as limited
))
