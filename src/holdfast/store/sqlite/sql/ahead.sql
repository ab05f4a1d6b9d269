-- ahead: how many due jobs of one lane go before a job, counted up to a cap.
select count(*) from (
    select 1 from job_queue indexed by job_queue_due
    where status = 'queued' and held = 0
        and queue = :queue and type = :type and payload_version = :payload_version and priority = :priority
        and (scheduled_at, id) < (:scheduled_at, :id)
    limit :cap
)
