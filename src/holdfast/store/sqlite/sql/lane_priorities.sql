-- lane_priorities: which priorities stand in a line, best first.
with recursive p (priority) as (
    select (
        select min(priority) from job_queue indexed by job_queue_lane
        where status = 'queued' and lane is not null and (held = 32 or held = 33) and lane = :key
    )
    union all
    select (
        select min(j.priority) from job_queue as j indexed by job_queue_lane
        where j.status = 'queued' and j.lane is not null and (j.held = 32 or j.held = 33) and j.lane = :key
            and j.priority > p.priority
    )
    from p where p.priority is not null
)
select priority from p where priority is not null
