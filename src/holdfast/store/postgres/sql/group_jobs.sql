-- group_jobs: the jobs of a group, oldest first, of one status or of all.
select
    id, type, status, queue, group_key, tenant, priority, attempts, max_retries, failed, crashed, interrupted,
    scheduled_at, created_at, updated_at, started_at, completed_at, payload, result, error, progress, context,
    idempotency_key, payload_version, timeout_ms, lease_owner, lease_until, lease_token, held, cancel_requested_at, version,
    blocked, children, on_parent, limits, lane, batch, item, parks, auth, auth_key, auth_until
from job_queue
where tenant = :tenant and group_key = :group and id > :after and (:status::text is null or status = :status)
order by tenant, group_key, id limit :limit
