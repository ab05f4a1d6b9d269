-- replace: a newer request takes the place of one that waits. It keeps its id, its age, its group and its turn. One that
-- was parked waits for its run again: the newer request has asked nobody yet, and no answer to the older one is its own.
update job_queue set
    status = 'queued', parks = 0, auth = null, auth_key = null, auth_until = null, auth_data = null,
    payload = :payload::json, payload_version = :payload_version, context = :context::json, sequence = :sequence,
    priority = least(priority, :priority), scheduled_at = case when :later::integer = 1 then greatest(scheduled_at, :scheduled_at::timestamptz) else least(scheduled_at, :scheduled_at::timestamptz) end,
    max_retries = :max_attempts, timeout_ms = :timeout_ms, attempts = 0, failed = 0, crashed = 0, interrupted = 0,
    error = null, progress = null, updated_at = :now::timestamptz, version = version + 1
where id = :id and (status = 'queued' or status = 'awaiting_auth')
