-- insert_alone: store one new job in a transaction of its own, at the database's time; a taken idempotency key, or the same
-- job sent once more, leaves the table as it was. Durable also where the database is set to tell of commits before they are.
insert into job_queue (
    id, type, priority, scheduled_at, payload, idempotency_key, max_retries, created_at, updated_at,
    queue, tenant, group_key, context, payload_version, timeout_ms, key_until, held
)
select
    :id, :type, :priority, coalesce(:scheduled_at::timestamptz, clock.now + :delay * interval '1 millisecond'),
    :payload::json, :key, :max_attempts, clock.now, clock.now,
    :queue, :tenant, :group, :context::json, :payload_version, :timeout_ms, :key_until,
    case when :group::text is null and :tenant::text = '' then 0 else holdfast_held(:tenant::text, :group::text) end
from (
    select date_trunc('milliseconds', coalesce(:now::timestamptz, clock_timestamp())) as now,
        case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', true) end
) as clock
on conflict do nothing
