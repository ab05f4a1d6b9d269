-- expired: runs whose lease ran out, oldest first.
select
    id, lease_token, type, queue, payload, payload_version, attempts, max_retries, failed, crashed, interrupted,
    priority, tenant, group_key, context, timeout_ms, created_at, scheduled_at, lease_owner, lease_until, started_at,
    key_until, coalesce_key, sequence, parks, batch, item, limits, auth_data
from job_queue indexed by job_queue_leases
where status = 'in_progress' and lease_until < :now
order by lease_until, id
limit :limit
