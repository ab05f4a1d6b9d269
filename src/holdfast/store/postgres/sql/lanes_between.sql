-- lanes_between: which lines of a range have somebody in them, found by skipping from one to the next. By order, not as a
-- minimum: with statistics from a time when nothing stood in line, the planner would read all lines to find the least.
with recursive l (lane) as (
    select (
        select lane from job_queue
        where status = 'queued' and lane is not null and (held = 32 or held = 33) and lane >= :low and lane < :high
        order by lane limit 1
    )
    union all
    select (
        select j.lane from job_queue as j
        where j.status = 'queued' and j.lane is not null and (j.held = 32 or j.held = 33)
            and j.lane > l.lane and j.lane < :high
        order by j.lane limit 1
    )
    from l where l.lane is not null
)
select lane from l where lane is not null limit :limit
