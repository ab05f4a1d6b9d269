-- schedule_hold: one schedule, which nobody else changes until the transaction ends.
select
    name, type, payload, options, cron, every_ms, tz, catch_up, overlap, code, source, paused_at, paused_by,
    removed, last_tick, next_tick, last_job, fired, skipped, missed, note, updated_at, updated_by, version
from job_schedules where name = :name
