-- batches: batches, newest first, below a cursor, with what ended so far in chunks that run.
select
    b.id, b.tenant, b.group_key, b.type, b.queue, b.total, b.done + coalesce(o.done, 0)::integer,
    b.failed + coalesce(o.failed, 0)::integer, b.cancelled, b.idempotency_key, b.callback_job,
    b.created_at, b.ended_at, b.version
from job_batches as b
left join (
    select
        j.batch, sum((j.progress -> 'items' ->> 'done')::integer) as done, sum((j.progress -> 'items' ->> 'failed')::integer) as failed
    from job_queue as j where j.status = 'in_progress' and j.batch is not null and j.item is null group by j.batch
) as o on o.batch = b.id
where b.id < :before and (:tenant::text is null or b.tenant = :tenant)
order by b.id desc limit :limit
