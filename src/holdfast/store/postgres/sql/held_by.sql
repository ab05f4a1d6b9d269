-- held_by: the runs held by one owner, or by all owners of a supervisor (name/...), or by anyone (empty).
select
    j.id, j.lease_token, j.type, j.queue, j.payload, j.payload_version, j.attempts, j.max_retries, j.failed, j.crashed,
    j.interrupted, j.priority, j.tenant, j.group_key, j.context, j.timeout_ms, j.created_at, j.scheduled_at, j.lease_owner,
    j.lease_until, j.started_at, j.key_until, j.coalesce_key, j.sequence, j.parks, j.batch, j.item, j.limits, j.auth_data
from job_queue as j
where j.status = 'in_progress'
    and (:owner::text = '' or j.lease_owner = :owner or left(j.lease_owner, length(:owner) + 1) = :owner || '/')
