-- waiting: the lines that hold waiting jobs, whatever their type, found by skipping from one to the next.
with recursive lane (queue, type, payload_version) as (
    (
        select queue, type, payload_version from job_queue
        where status = 'queued' and held = 0 order by queue, type, payload_version limit 1
    )
    union all
    select j.queue, j.type, j.payload_version from lane as l join job_queue as j on j.id = coalesce(
        (select n.id from job_queue as n
            where n.status = 'queued' and n.held = 0
                and n.queue = l.queue and n.type = l.type and n.payload_version > l.payload_version
            order by n.queue, n.type, n.payload_version limit 1),
        (select n.id from job_queue as n
            where n.status = 'queued' and n.held = 0 and n.queue = l.queue and n.type > l.type
            order by n.queue, n.type, n.payload_version limit 1),
        (select n.id from job_queue as n
            where n.status = 'queued' and n.held = 0 and n.queue > l.queue
            order by n.queue, n.type, n.payload_version limit 1)
    )
)
select queue, type, payload_version,
    (select count(*) from (
        select from job_queue as c
        where c.status = 'queued' and c.held = 0 and c.queue = lane.queue and c.type = lane.type
            and c.payload_version = lane.payload_version
        order by c.queue, c.type, c.payload_version, c.priority, c.scheduled_at, c.id
        limit :cap) as counted) as depth,
    (select min((
        select min(c.scheduled_at) from job_queue as c
        where c.status = 'queued' and c.held = 0 and c.queue = lane.queue and c.type = lane.type
            and c.payload_version = lane.payload_version and c.priority = p.priority))
        from generate_series(1, 10) as p (priority)) as oldest
from lane limit 1000
