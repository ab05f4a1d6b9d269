-- parents_of: whom a job waits for, or waited for; those it still waits for first.
select p.id, p.type, p.status, e.done from job_parents as e join job_queue as p on p.id = e.parent
where e.child = :id order by e.done, p.id limit :limit
