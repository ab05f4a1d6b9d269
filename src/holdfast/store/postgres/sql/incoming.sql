-- incoming: where a bulk insert puts its rows first, because COPY itself cannot pass over a taken key.
create temporary table if not exists holdfast_incoming (
    id text, type text, priority integer, scheduled_at timestamptz, payload json, idempotency_key text, max_retries integer,
    queue text, tenant text, group_key text, context json, payload_version integer, timeout_ms bigint, key_until text
) on commit delete rows
