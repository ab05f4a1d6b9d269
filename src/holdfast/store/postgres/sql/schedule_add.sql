-- schedule_add: a new schedule; one that is there already stays as it is.
insert into job_schedules (
    name, type, payload, options, cron, every_ms, tz, catch_up, overlap, code, source, paused_at, paused_by,
    removed, last_tick, next_tick, last_job, fired, skipped, missed, note, updated_at, updated_by, version
) values (
    :name, :type, :payload::json, :options::json, :cron, :every_ms, :tz, :catch_up, :overlap, :code::json,
    :source, :paused_at::timestamptz, :paused_by, :removed, :last_tick::timestamptz, :next_tick::timestamptz,
    :last_job, :fired, :skipped, :missed, :note, :updated_at::timestamptz, :updated_by, :version
) on conflict (name) do nothing
