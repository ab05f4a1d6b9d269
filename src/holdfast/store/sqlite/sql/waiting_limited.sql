-- waiting_limited: jobs that stand in line for limits, by queue and type, counted up to a cap.
select queue, type, payload_version, count(*), min(scheduled_at) from (
    select queue, type, payload_version, scheduled_at from job_queue
    where status = 'queued' and lane is not null and (held = 32 or held = 33)
    order by lane, priority, scheduled_at, id
    limit :cap
) as counted
group by queue, type, payload_version
