-- incoming_copy: send the rows of a bulk insert.
copy pg_temp.holdfast_incoming (
    id, type, priority, scheduled_at, payload, idempotency_key, max_retries,
    queue, tenant, group_key, context, payload_version, timeout_ms, key_until
) from stdin
