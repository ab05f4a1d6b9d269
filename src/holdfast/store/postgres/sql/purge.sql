-- purge: delete ended jobs for good, while they are still in the status they were seen in.
delete from job_queue where id = any (array (
    select j.id from unnest(:ids::text[], :statuses::text[]) as w (id, status)
    join job_queue as j on j.id = w.id and j.status = w.status and j.completed_at is not null
    order by j.id
    for update of j
))
returning id
