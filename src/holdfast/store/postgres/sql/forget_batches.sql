-- forget_batches: drop batches that ended long ago and have no items left.
delete from job_batches where ended_at < :before::timestamptz
    and not exists (select 1 from job_items as i where i.batch = job_batches.id)
