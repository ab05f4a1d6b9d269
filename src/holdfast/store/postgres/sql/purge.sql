-- purge: delete ended jobs for good, while they are still in the status they were seen in. One whose children have not ended
-- is spared: they may want to see its result.
delete from job_queue where id = any (array (
    select j.id from unnest(:ids::text[], :statuses::text[]) as w (id, status)
    join job_queue as j on j.id = w.id and j.status = w.status and j.completed_at is not null
    where j.children = 0 or not exists (
        select from job_parents as e join job_queue as c on c.id = e.child
        where e.parent = j.id and c.completed_at is null
    )
    order by j.id
    for update of j
))
returning id
