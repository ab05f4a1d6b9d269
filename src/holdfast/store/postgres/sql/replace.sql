-- replace: a newer request takes the place of one that waits. It keeps its id, its age, its group and its turn.
update job_queue set
    payload = :payload::json, payload_version = :payload_version, context = :context::json, sequence = :sequence,
    priority = least(priority, :priority), scheduled_at = case when :later::integer = 1 then greatest(scheduled_at, :scheduled_at::timestamptz) else least(scheduled_at, :scheduled_at::timestamptz) end,
    max_retries = :max_attempts, timeout_ms = :timeout_ms, attempts = 0, failed = 0, crashed = 0, interrupted = 0,
    error = null, progress = null, updated_at = :now::timestamptz, version = version + 1
where id = :id and (status = 'queued' or status = 'awaiting_auth')
