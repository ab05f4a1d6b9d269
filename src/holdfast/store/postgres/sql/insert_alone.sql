-- insert_alone: store one new job in a transaction of its own, at the database's time, and tell of it by a word that goes
-- out with the commit; a taken idempotency key, or the same job sent once more, leaves the table as it was. Durable also
-- where the database is set to tell of commits before they are. NOTIFY holds a lock of the whole server until its commit is
-- on the disk: whoever finds another one at it stores its job without a word, and tells afterwards.
with made as (
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
    returning 1
)
select
    case
        when :word::text is null then false
        when pg_try_advisory_xact_lock(4747, 0) then pg_notify(:channel, :word)::text = ''
        else false
    end
from made
