-- insert_copy: store new jobs without keys, the shortest way.
copy job_queue (
    id, type, priority, scheduled_at, payload, max_retries, created_at, updated_at,
    queue, tenant, group_key, context, payload_version, timeout_ms
) from stdin
