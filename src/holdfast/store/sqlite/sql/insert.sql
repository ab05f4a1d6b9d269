-- insert: store one new job; a taken idempotency key leaves the table as it was.
insert into job_queue (
    id, payload, type, priority, scheduled_at, idempotency_key, max_retries, created_at, updated_at,
    queue, tenant, group_key, context, payload_version, timeout_ms, key_until, held
) values (
    :id, :payload, :type, :priority, :scheduled_at, :key, :max_attempts, :now, :now,
    :queue, :tenant, :group, :context, :payload_version, :timeout_ms, :key_until, :held
) on conflict (tenant, idempotency_key) where idempotency_key is not null do nothing
