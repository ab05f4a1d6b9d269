-- purge: delete an ended job for good, while it is still in the status it was seen in. One whose children have not ended is
-- spared: they may want to see its result.
delete from job_queue
where id = :id and status = :status and completed_at is not null
    and (children = 0 or not exists (
        select 1 from job_parents as e join job_queue as c on c.id = e.child
        where e.parent = job_queue.id and c.completed_at is null
    ))
