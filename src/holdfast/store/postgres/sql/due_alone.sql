-- due_alone: take due jobs that must run in a process of their own, the most urgent first; their number is small.
with wanted (queue, type, payload_version) as (
    select distinct w.queue, w.type, w.payload_version
    from unnest(:queues::text[], :types::text[], :payload_versions::integer[]) as w (queue, type, payload_version)
    where not exists (select from job_pauses as p where p.scope = 'queue' and p.name = w.queue)
),
taken as materialized (
    select j.id from job_queue as j
    where j.status = 'queued' and j.held = 1 and j.scheduled_at <= :now::timestamptz
        and (j.queue, j.type, j.payload_version) in (select queue, type, payload_version from wanted)
    order by j.priority, j.scheduled_at, j.id
    limit :limit
    for update of j skip locked
)
update job_queue as j set
    status = 'in_progress', lease_owner = :owner, lease_until = :until::timestamptz, lease_token = lease_token + 1,
    attempts = attempts + 1, started_at = :now::timestamptz, updated_at = :now::timestamptz, version = version + 1
where j.id = any (array (select id from taken))
returning
    j.id, j.lease_token, j.type, j.queue, j.payload, j.payload_version, j.attempts, j.max_retries, j.failed, j.crashed,
    j.interrupted, j.priority, j.tenant, j.group_key, j.context, j.timeout_ms, j.created_at, j.scheduled_at, j.lease_owner,
    j.lease_until, j.started_at, j.key_until, j.coalesce_key, j.sequence, j.parks, j.batch, j.item, j.limits, j.auth_data
