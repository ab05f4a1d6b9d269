-- depth: how many jobs wait in a queue, counted up to a cap.
select count(*) from (
    select 1 from job_queue indexed by job_queue_due
    where status = 'queued' and held = 0 and queue = :queue
    union all
    select 1 from job_queue indexed by job_queue_alone
    where status = 'queued' and held = 1 and scheduled_at > '' and queue = :queue
    union all
    select 1 from job_queue indexed by job_queue_lane
    where status = 'queued' and lane is not null and (held = 32 or held = 33) and queue = :queue
    limit :cap
)
