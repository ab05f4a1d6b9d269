-- claimed: what was just taken, as one row.
select json_group_array(json_array(
    id, lease_token, type, queue, payload, payload_version, attempts, max_retries, failed, crashed, interrupted,
    priority, tenant, group_key, context, timeout_ms, created_at, scheduled_at, lease_owner, lease_until, started_at,
    key_until, coalesce_key, sequence, parks, batch, item, limits, auth_data))
from job_queue where id in (select value from json_each(:ids))
