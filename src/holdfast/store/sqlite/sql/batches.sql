-- batches: batches, newest first, below a cursor.
select
    b.id, b.tenant, b.group_key, b.type, b.queue, b.total,
    b.done + coalesce((
        select sum(json_extract(j.progress, '$.items.done')) from job_queue as j
        where j.batch = b.id and j.item is null and j.status in ('queued', 'in_progress')
    ), 0),
    b.failed + coalesce((
        select sum(json_extract(j.progress, '$.items.failed')) from job_queue as j
        where j.batch = b.id and j.item is null and j.status in ('queued', 'in_progress')
    ), 0),
    b.idempotency_key, b.callback_job, b.created_at, b.ended_at, b.version
from job_batches as b
where b.id < :before and (:tenant is null or b.tenant = :tenant)
order by b.id desc limit :limit
