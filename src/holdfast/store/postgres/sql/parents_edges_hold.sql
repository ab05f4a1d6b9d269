-- parents_edges_hold: whom some jobs wait for. Locked, because a parent may end at this moment; in one order for all.
select parent, child from job_parents where child = any (:ids::text[]) order by parent, child for update
