-- lane_heads: the first of some lines that are due, best first. One that another transaction has in its hands is passed by.
select w.key, head.id, head.priority, head.queue, head.type, head.payload_version, head.limits
from (
    select l.value ->> 0 as key, (l.value ->> 1)::integer as most
    from json_array_elements(:wanted::json) as l (value)
) as w
cross join lateral (
    select j.id, p.priority, j.queue, j.type, j.payload_version, j.limits::text as limits
    from generate_series(1, 10) as p (priority)
    cross join lateral (
        select q.id, q.queue, q.type, q.payload_version, q.limits from job_queue as q
        where q.status = 'queued' and q.lane is not null and (q.held = 32 or q.held = 33)
            and q.lane = w.key and q.priority = p.priority and q.scheduled_at <= :now::timestamptz
        order by q.scheduled_at, q.id
        limit w.most
        for update skip locked
    ) as j
    limit w.most
) as head
