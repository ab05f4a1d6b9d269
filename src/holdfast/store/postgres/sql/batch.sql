-- batch: one batch as it is now, with what its chunks have done so far.
select
    b.id, b.tenant, b.group_key, b.type, b.queue, b.total,
    b.done + coalesce((
        select sum((j.progress -> 'items' ->> 'done')::integer) from job_queue as j
        where j.batch = b.id and j.item is null and j.status in ('queued', 'in_progress')
    ), 0)::integer,
    b.failed + coalesce((
        select sum((j.progress -> 'items' ->> 'failed')::integer) from job_queue as j
        where j.batch = b.id and j.item is null and j.status in ('queued', 'in_progress')
    ), 0)::integer,
    b.idempotency_key, b.callback_job, b.created_at, b.ended_at, b.version
from job_batches as b
where b.id = :id and (:tenant::text is null or b.tenant = :tenant)
