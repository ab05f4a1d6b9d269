-- next_due: when the next waiting job of some lanes comes due, and when a line of a limit is to be looked at.
with wanted (queue, type, payload_version) as (
    select distinct w.queue, w.type, w.payload_version
    from unnest(
        (select :queues::text[]), (select :types::text[]), (select :payload_versions::integer[])
    ) as w (queue, type, payload_version)
    where not exists (select from job_pauses as p where p.scope = 'queue' and p.name = w.queue)
)
select min(head.due), (select min(at) from job_looks) from wanted as w
cross join generate_series(1, 10) as p (priority)
cross join lateral (
    select min(j.scheduled_at) as due from job_queue as j
    where j.status = 'queued' and j.held = 0
        and j.queue = w.queue and j.type = w.type and j.payload_version = w.payload_version
        and j.priority = p.priority and j.scheduled_at > :now::timestamptz
) as head
