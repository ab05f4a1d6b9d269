-- forget_items: drop items of batches that ended long ago, some at a time.
delete from job_items where (batch, number) in (
    select i.batch, i.number from job_batches as b join job_items as i on i.batch = b.id
    where b.ended_at < :before::timestamptz limit :limit
)
