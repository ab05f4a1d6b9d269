-- parents_edges: whom some jobs wait for, and where those stand.
select e.child, e.parent, p.status from job_parents as e join job_queue as p on p.id = e.parent
where e.child in (select value from json_each(:ids)) order by e.child, e.parent
