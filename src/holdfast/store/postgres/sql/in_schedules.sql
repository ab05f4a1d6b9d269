-- in_schedules: schedules as another store had them, in bulk.
copy job_schedules (
    name, type, payload, options, cron, every_ms, tz, catch_up, overlap, code, source, paused_at, paused_by,
    removed, last_tick, next_tick, last_job, fired, skipped, missed, note, updated_at, updated_by, version
) from stdin
