-- waiting: the lines that hold waiting jobs, whatever their type, found by skipping from one to the next.
with recursive lane (queue, type, payload_version) as (
    select * from (
        select queue, type, payload_version from job_queue indexed by job_queue_due
        where status = 'queued' and held = 0 order by queue, type, payload_version limit 1
    )
    union all
    select j.queue, j.type, j.payload_version from lane l join job_queue j on j.id = coalesce(
        (select n.id from job_queue n indexed by job_queue_due
            where n.status = 'queued' and n.held = 0
                and n.queue = l.queue and n.type = l.type and n.payload_version > l.payload_version
            order by n.payload_version limit 1),
        (select n.id from job_queue n indexed by job_queue_due
            where n.status = 'queued' and n.held = 0 and n.queue = l.queue and n.type > l.type
            order by n.type, n.payload_version limit 1),
        (select n.id from job_queue n indexed by job_queue_due
            where n.status = 'queued' and n.held = 0 and n.queue > l.queue
            order by n.queue, n.type, n.payload_version limit 1)
    )
)
select queue, type, payload_version,
    (select count(*) from (
        select 1 from job_queue c indexed by job_queue_due
        where c.status = 'queued' and c.held = 0 and c.queue = lane.queue and c.type = lane.type
            and c.payload_version = lane.payload_version
        limit :cap)) as depth,
    (select min((
        select min(c.scheduled_at) from job_queue c indexed by job_queue_due
        where c.status = 'queued' and c.held = 0 and c.queue = lane.queue and c.type = lane.type
            and c.payload_version = lane.payload_version and c.priority = p.value))
        from json_each('[1,2,3,4,5,6,7,8,9,10]') p) as oldest
from lane limit 1000
