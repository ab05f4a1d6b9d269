-- claim_rest: what a claim takes when others were quicker. Reads lane after lane and locks row by row, no further than
-- it needs, so it never comes back empty while a free job is due; lanes of one priority are not mixed by due time here.
with recursive wanted (queue, type, payload_version) as (
    select distinct w.queue, w.type, w.payload_version
    from unnest(
        (select :queues::text[]), (select :types::text[]), (select :payload_versions::integer[])
    ) as w (queue, type, payload_version)
    where not exists (select from job_pauses as p where p.scope = 'queue' and p.name = w.queue)
),
lane (queue, type, payload_version, priority) as (
    select w.queue, w.type, w.payload_version, (
        select min(j.priority) from job_queue as j
        where j.status = 'queued' and j.held = 0
            and j.queue = w.queue and j.type = w.type and j.payload_version = w.payload_version
    )
    from wanted as w
    union all
    select l.queue, l.type, l.payload_version, (
        select min(j.priority) from job_queue as j
        where j.status = 'queued' and j.held = 0
            and j.queue = l.queue and j.type = l.type and j.payload_version = l.payload_version
            and j.priority > l.priority
    )
    from lane as l where l.priority is not null
),
taken as materialized (
    select head.id from (select * from lane where priority is not null) as l
    cross join lateral (
        select j.scheduled_at, j.id from job_queue as j
        where j.status = 'queued' and j.held = 0
            and j.queue = l.queue and j.type = l.type and j.payload_version = l.payload_version
            and j.priority = l.priority and j.scheduled_at <= :now::timestamptz
        order by j.scheduled_at, j.id
        limit (select :limit::bigint)
        for update skip locked
    ) as head
    order by l.priority
    limit (select :limit::bigint)
)
update job_queue as j set
    status = 'in_progress', lease_owner = :owner, lease_until = :until::timestamptz, lease_token = lease_token + 1,
    attempts = attempts + 1, started_at = :now::timestamptz, updated_at = :now::timestamptz, version = version + 1
where j.id = any (array (select id from taken))
returning
    j.id, j.lease_token, j.type, j.queue, j.payload, j.payload_version, j.attempts, j.max_retries, j.failed, j.crashed,
    j.interrupted, j.priority, j.tenant, j.group_key, j.context, j.timeout_ms, j.created_at, j.scheduled_at, j.lease_owner,
    j.lease_until, j.started_at, j.key_until, j.coalesce_key, j.sequence, j.parks, j.batch, j.item, j.limits, j.auth_data
