-- parents_settle: these parents are over; tells who waited for which of them. Locked in one order for all.
with waited as (
    select parent, child from job_parents where parent = any (:ids::text[]) and done = 0
    order by parent, child
    for update
)
update job_parents as e set done = 1 from waited as w
where e.parent = w.parent and e.child = w.child
returning e.parent, e.child
