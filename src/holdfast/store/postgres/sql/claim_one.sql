-- claim_one: take the best due job of some lanes under a lease, in one statement that commits by itself; a new token and
-- one more attempt. It looks at the best priority of each lane alone, and passes by whatever another claim has in its
-- hands: who finds nothing asks by `claim`, which costs the server twice as much. Nothing is taken while lines of limits
-- are to be looked at, or where the best job has limits: these are written in the same commit.
update job_queue as j set
    status = 'in_progress', lease_owner = :owner,
    lease_until = date_trunc('milliseconds', now()) + :lease * interval '1 millisecond', lease_token = lease_token + 1,
    attempts = attempts + 1, started_at = date_trunc('milliseconds', now()),
    updated_at = date_trunc('milliseconds', now()), version = version + 1
where j.ctid = (
    select taken.ctid from job_queue as taken
    where taken.ctid = (
        select head.place
        from unnest(:queues::text[], :types::text[], :payload_versions::integer[]) as w (queue, type, payload_version)
        cross join lateral (
            select due.ctid as place, due.priority, due.scheduled_at, due.id from job_queue as due
            where due.status = 'queued' and due.held = 0
                and due.queue = w.queue and due.type = w.type and due.payload_version = w.payload_version
                and due.priority = (
                    select min(best.priority) from job_queue as best
                    where best.status = 'queued' and best.held = 0
                        and best.queue = w.queue and best.type = w.type and best.payload_version = w.payload_version
                )
                and due.scheduled_at <= date_trunc('milliseconds', now())
            order by due.scheduled_at, due.id
            limit 1
        ) as head
        where not exists (select from job_pauses as p where p.scope = 'queue' and p.name = w.queue)
        order by head.priority, head.scheduled_at, head.id
        limit 1
    )
    and taken.lease_owner is null and taken.completed_at is null and taken.status <> 'awaiting_auth' and taken.held = 0
    and taken.limits is null and not exists (select from job_looks where at <= date_trunc('milliseconds', now()))
    for update skip locked
)
returning
    j.id, j.lease_token, j.type, j.queue, j.payload, j.payload_version, j.attempts, j.max_retries, j.failed, j.crashed,
    j.interrupted, j.priority, j.tenant, j.group_key, j.context, j.timeout_ms, j.created_at, j.scheduled_at, j.lease_owner,
    j.lease_until, j.started_at, j.key_until, j.coalesce_key, j.sequence, j.parks, j.batch, j.item, j.limits, j.auth_data
