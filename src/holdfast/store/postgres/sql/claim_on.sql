-- claim_on: what a claim takes while dead rows lie thick before the living: each lane is read, priority by priority, from
-- where the claims before it came to, or now and then from its front. Jobs that were let out of the line of a limit keep
-- their old time, behind the claims: those are found by the units that they hold. Locks row by row and no further than it
-- needs, as claim_rest does; what it has locked it writes by its place in the table, as claim does. Its last columns are
-- claim's.
with wanted (queue, type, payload_version, priority, since) as (
    select w.queue, w.type, w.payload_version, w.priority, w.since
    from unnest(
        (select :queues::text[]), (select :types::text[]), (select :payload_versions::integer[]),
        (select :priorities::integer[]), (select :since::timestamptz[])
    ) as w (queue, type, payload_version, priority, since)
    where not exists (select from job_pauses as p where p.scope = 'queue' and p.name = w.queue)
),
let_in as materialized (
    select j.ctid as place from job_queue as j
    where j.id = any (array (
            select u.job_id from job_units as u
            where u.owner is null and u.since > :now::timestamptz - interval '10 seconds'
        ))
        and j.lease_owner is null and j.completed_at is null and j.status <> 'awaiting_auth'
        and j.held = 0 and j.scheduled_at <= :now::timestamptz
        and (j.queue, j.type, j.payload_version) in (select w.queue, w.type, w.payload_version from wanted as w)
    order by j.priority, j.scheduled_at, j.id
    limit (select :limit::bigint)
    for update skip locked
),
taken as materialized (
    select head.place from wanted as w
    cross join lateral (
        select j.ctid as place from job_queue as j
        where j.status = 'queued' and j.held = 0
            and j.queue = w.queue and j.type = w.type and j.payload_version = w.payload_version
            and j.priority = w.priority and j.scheduled_at >= w.since and j.scheduled_at <= :now::timestamptz
            and j.ctid <> all (array (select place from let_in))
        order by j.scheduled_at, j.id
        limit (select :limit::bigint)
        for update skip locked
    ) as head
    order by w.priority
    limit (select :limit::bigint - count(*) from let_in)
)
update job_queue as j set
    status = 'in_progress', lease_owner = :owner, lease_until = :until::timestamptz, lease_token = lease_token + 1,
    attempts = attempts + 1, started_at = :now::timestamptz, updated_at = :now::timestamptz, version = version + 1
where j.ctid = any (array (select place from let_in union all select place from taken))
returning
    j.id, j.lease_token, j.type, j.queue, j.payload, j.payload_version, j.attempts, j.max_retries, j.failed, j.crashed,
    j.interrupted, j.priority, j.tenant, j.group_key, j.context, j.timeout_ms, j.created_at, j.scheduled_at, j.lease_owner,
    j.lease_until, j.started_at, j.key_until, j.coalesce_key, j.sequence, j.parks, j.batch, j.item, j.limits, j.auth_data,
    (select pg_stat_get_xact_tuples_returned('job_queue_due'::regclass)),
    (select min(at) <= :now::timestamptz from job_looks)
