-- schedules: every schedule, or the one of a name.
select
    name, type, payload, options, cron, every_ms, tz, catch_up, overlap, code, source, paused_at, paused_by,
    removed, last_tick, next_tick, last_job, fired, skipped, missed, note, updated_at, updated_by, version
from job_schedules where :name is null or name = :name order by name
