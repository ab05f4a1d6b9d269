-- parents_falling: who waits for these parents, and for those who would end with them, down to the last generation.
-- Looked up one by one (`offset 0`): a chain has as many generations as jobs, and no plan may read a table for each.
with recursive falling (id) as (
    select unnest(:ids::text[]) collate "C"
    union
    select e.child from falling as f
    cross join lateral (select child from job_parents as p where p.parent = f.id and p.done = 0 offset 0) as e
    cross join lateral (
        select from job_queue as j where j.id = e.child and j.status = 'queued' and j.on_parent is null offset 0
    ) as waiting
)
select e.parent, e.child from job_parents as e
where e.parent = any (array (select id from falling)) and e.done = 0
