-- insert: store one new job, held if its group or its tenant is paused; a taken idempotency key leaves the table as it was.
insert into job_queue (
    id, type, priority, scheduled_at, payload, idempotency_key, max_retries, created_at, updated_at,
    queue, tenant, group_key, context, payload_version, timeout_ms, key_until, held
) values (
    :id, :type, :priority, :scheduled_at::timestamptz, :payload::json, :key, :max_attempts,
    :now::timestamptz, :now::timestamptz,
    :queue, :tenant, :group, :context::json, :payload_version, :timeout_ms, :key_until,
    case when :group::text is null and :tenant::text = '' then 0 else holdfast_held(:tenant::text, :group::text) end
) on conflict (tenant, idempotency_key) where idempotency_key is not null do nothing
