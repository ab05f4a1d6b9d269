-- list: the newest jobs of a window that match, newest first.
select
    id, type, status, queue, group_key, tenant, priority, attempts, max_retries, failed, crashed, interrupted,
    scheduled_at, created_at, updated_at, started_at, completed_at, payload, result, error, progress, context,
    idempotency_key, payload_version, timeout_ms, lease_owner, lease_until, lease_token, held, cancel_requested_at, version,
    blocked, children, on_parent, limits, lane, batch, item, parks, auth, auth_key, auth_until
from job_queue
where id > :floor and id < :before
    and (:status is null or status = :status) and (:type is null or type = :type)
    and (:queue is null or queue = :queue) and (:group is null or group_key = :group)
    and (:tenant is null or tenant = :tenant)
order by id desc
limit :limit
