-- claim: take the best due jobs of some lanes under a lease; each claim is a new token and one more attempt. A row that
-- another claim has in its hands is passed by; the last columns tell how many were found, so that the caller sees it, and
-- how many entries of the index this session has read of late, the dead among them, and whether lines of limits are to be
-- looked at. What was found is locked and written by its place in the table: no index is asked again, and the planner has no
-- choice. By its status it would be a bad one where the statistics are from a time when nothing waited, so the checks of
-- the table say what waits. Whoever was moved meanwhile is passed by. The parameters stand in selects of their own, which hide them
-- from the planner: so a plan for these very values looks no better than the one that is kept for all. Without an instant it
-- stands in no transaction, and takes the database's time; then `plain` has it take nothing where a job with limits is
-- among the best, whose units must be written in the same commit.
with recursive clock (now) as materialized (
    select date_trunc('milliseconds', coalesce(:now::timestamptz, clock_timestamp()))
),
wanted (queue, type, payload_version) as (
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
found as materialized (
    select head.place, head.limits from (select distinct priority from lane where priority is not null) as p
    cross join lateral (
        select due.scheduled_at, due.id, due.place, due.limits from lane as l
        cross join lateral (
            select j.scheduled_at, j.id, j.ctid as place, j.limits from job_queue as j
            where j.status = 'queued' and j.held = 0
                and j.queue = l.queue and j.type = l.type and j.payload_version = l.payload_version
                and j.priority = l.priority and j.scheduled_at <= (select now from clock)
            order by j.scheduled_at, j.id
            limit (select :limit::bigint)
        ) as due
        where l.priority = p.priority
        order by due.scheduled_at, due.id
        limit (select :limit::bigint)
    ) as head
    order by p.priority
    limit (select :limit::bigint)
),
taken as (
    select j.ctid as place from job_queue as j
    where j.ctid = any (array (select place from found))
        and j.lease_owner is null and j.completed_at is null and j.status <> 'awaiting_auth'
        and j.held = 0 and j.scheduled_at <= (select now from clock)
        and not (:plain::boolean and exists (select from found where limits is not null))
    for update skip locked
)
update job_queue as j set
    status = 'in_progress', lease_owner = :owner, lease_until = clock.now + :lease * interval '1 millisecond',
    lease_token = lease_token + 1, attempts = attempts + 1, started_at = clock.now, updated_at = clock.now,
    version = version + 1
from clock
where j.ctid = any (array (select place from taken))
returning
    j.id, j.lease_token, j.type, j.queue, j.payload, j.payload_version, j.attempts, j.max_retries, j.failed, j.crashed,
    j.interrupted, j.priority, j.tenant, j.group_key, j.context, j.timeout_ms, j.created_at, j.scheduled_at, j.lease_owner,
    j.lease_until, j.started_at, j.key_until, j.coalesce_key, j.sequence, j.parks, j.batch, j.item, j.limits, j.auth_data,
    (select count(*) from found),
    (select pg_stat_get_xact_tuples_returned('job_queue_due'::regclass)),
    (select min(at) <= (select now from clock) from job_looks)
