-- parents_falling: who waits for these parents, and for those who would end with them, down to the last generation.
-- (A cross join keeps its order: no plan may read all of a table.)
with recursive falling (id) as (
    select value from json_each(:ids)
    union
    select e.child from falling f
    join job_parents e on e.parent = f.id and e.done = 0
    join job_queue j on j.id = e.child
    where +j.status = 'queued' and j.on_parent is null
)
select e.parent, e.child from falling f
cross join job_parents e on e.parent = f.id and e.done = 0
