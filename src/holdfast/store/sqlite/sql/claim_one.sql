-- claim_one: take the best due job of some lanes under a lease, in one statement that commits by itself; a new token and
-- one more attempt. Nothing is taken while lines of limits are to be looked at, or where the best job has limits: these
-- are written in the same commit.
update job_queue set
    status = 'in_progress', lease_owner = :owner, lease_until = :until, lease_token = lease_token + 1,
    attempts = attempts + 1, started_at = :now, updated_at = :now, version = version + 1
where id = (
    with recursive wanted (queue, type, payload_version) as (
        select value ->> 0, value ->> 1, value ->> 2 from json_each(:lanes)
        where value ->> 0 not in (select name from job_pauses where scope = 'queue')
    ),
    lane (queue, type, payload_version, priority) as (
        select w.queue, w.type, w.payload_version, (
            select min(j.priority) from job_queue j
            where j.status = 'queued' and j.held = 0
                and j.queue = w.queue and j.type = w.type and j.payload_version = w.payload_version
        )
        from wanted w
        union all
        select l.queue, l.type, l.payload_version, (
            select min(j.priority) from job_queue j
            where j.status = 'queued' and j.held = 0
                and j.queue = l.queue and j.type = l.type and j.payload_version = l.payload_version
                and j.priority > l.priority
        )
        from lane l where l.priority is not null
    )
    select head.id from lane l, job_queue head
    where head.id = (
        select j.id from job_queue j indexed by job_queue_due
        where j.status = 'queued' and j.held = 0
            and j.queue = l.queue and j.type = l.type and j.payload_version = l.payload_version
            and j.priority = l.priority and j.scheduled_at <= :now
        order by j.scheduled_at, j.id
        limit 1
    )
    order by l.priority, head.scheduled_at, head.id
    limit 1
)
and status = 'queued' and limits is null and not exists (select 1 from job_looks where at <= :now)
returning
    id, lease_token, type, queue, payload, payload_version, attempts, max_retries, failed, crashed, interrupted,
    priority, tenant, group_key, context, timeout_ms, created_at, scheduled_at, lease_owner, lease_until, started_at,
    key_until, coalesce_key, sequence, parks, batch, item, limits, auth_data
