-- batch: one batch as it is now, with what ended so far in chunks that run. Those are few, and found by their leases.
select
    b.id, b.tenant, b.group_key, b.type, b.queue, b.total, b.done + coalesce(o.done, 0),
    b.failed + coalesce(o.failed, 0), b.cancelled, b.idempotency_key, b.callback_job,
    b.created_at, b.ended_at, b.version
from job_batches as b
left join (
    select
        j.batch, sum(json_extract(j.progress, '$.items.done')) as done, sum(json_extract(j.progress, '$.items.failed')) as failed
    from job_queue as j where j.status = 'in_progress' and +j.batch is not null and j.item is null group by j.batch
) as o on o.batch = b.id
where b.id = :id and (:tenant is null or b.tenant = :tenant)
