-- next_due: when the next waiting job of one lane comes due.
select min(scheduled_at) from job_queue indexed by job_queue_due
where status = 'queued' and held = 0
    and queue = :queue and type = :type and payload_version = :payload_version and priority = :priority
    and scheduled_at > :now
