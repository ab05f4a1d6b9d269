-- children_of: who waits for a job, or waited for it; those that have not ended first.
select c.id, c.type, c.status, e.done from job_parents as e join job_queue as c on c.id = e.child
where e.parent = :id order by c.completed_at is not null, c.id limit :limit
