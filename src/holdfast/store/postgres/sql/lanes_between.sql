-- lanes_between: which lines of a range have somebody in them, found by skipping from one to the next.
with recursive l (lane) as (
    select (
        select min(lane) from job_queue
        where status = 'queued' and lane is not null and (held = 32 or held = 33) and lane >= :low and lane < :high
    )
    union all
    select (
        select min(j.lane) from job_queue as j
        where j.status = 'queued' and j.lane is not null and (j.held = 32 or j.held = 33)
            and j.lane > l.lane and j.lane < :high
    )
    from l where l.lane is not null
)
select lane from l where lane is not null limit :limit
