-- parents_follow: who waits for a job that was overtaken waits for its successor instead.
update job_parents as e set parent = :successor
where e.parent = :parent and e.done = 0
    and not exists (select from job_parents as o where o.parent = :successor and o.child = e.child)
returning e.child
