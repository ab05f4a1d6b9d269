-- parents_fallen: the jobs that ended because a parent did, among those of some parents.
select distinct e.child from job_parents as e join job_queue as c on c.id = e.child
where e.parent = any (:ids::text[]) and c.status = 'cancelled' and c.error::json ->> 'code' = :code
order by e.child
