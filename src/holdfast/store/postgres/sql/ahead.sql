-- ahead: how many due jobs of one lane go before a job, counted up to a cap.
select count(*) from (
    select from job_queue
    where status = 'queued' and held = 0
        and queue = :queue and type = :type and payload_version = :payload_version and priority = :priority
        and (scheduled_at, id) < (:scheduled_at::timestamptz, :id)
    limit :cap
) as counted
