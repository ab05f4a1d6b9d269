-- insert_copy: store new jobs without keys, the shortest way.
copy job_queue (
    id, payload, type, priority, scheduled_at, max_retries, created_at, updated_at,
    queue, tenant, group_key, context, payload_version, timeout_ms
) from stdin
