-- schedule_change: write a schedule anew, unless it has changed since it was read.
update job_schedules set
    type = :type, payload = :payload::json, options = :options::json, cron = :cron, every_ms = :every_ms,
    tz = :tz, catch_up = :catch_up, overlap = :overlap, code = :code::json, source = :source,
    paused_at = :paused_at::timestamptz, paused_by = :paused_by, removed = :removed,
    last_tick = :last_tick::timestamptz, next_tick = :next_tick::timestamptz, last_job = :last_job,
    fired = :fired, skipped = :skipped, missed = :missed, note = :note, updated_at = :updated_at::timestamptz,
    updated_by = :updated_by,
    version = version + 1
where name = :name and version = :version
