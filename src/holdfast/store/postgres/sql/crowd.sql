-- crowd: whether a job of this lane that came due a moment ago is still waiting.
select exists (
    select from job_queue
    where status = 'queued' and held = 0
        and queue = :queue and type = :type and payload_version = :payload_version and priority = :priority
        and scheduled_at > :now::timestamptz - interval '500 milliseconds'
        and scheduled_at < :now::timestamptz - interval '100 milliseconds'
)
