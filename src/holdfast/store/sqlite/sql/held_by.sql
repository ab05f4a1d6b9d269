-- held_by: the runs held by one owner, or by all owners of a supervisor (name/...), or by anyone (empty).
select
    id, lease_token, type, queue, payload, payload_version, attempts, max_retries, failed, crashed, interrupted,
    priority, tenant, group_key, context, timeout_ms, created_at, scheduled_at, lease_owner, lease_until, started_at,
    key_until, coalesce_key, sequence, parks, batch, item, limits, auth_data
from job_queue indexed by job_queue_leases
where status = 'in_progress' and (:owner = '' or lease_owner = :owner or substr(lease_owner, 1, length(:owner) + 1) = :owner || '/')
