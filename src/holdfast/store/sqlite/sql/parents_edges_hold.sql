-- parents_edges_hold: whom some jobs wait for; nobody else is at it meanwhile.
select parent, child from job_parents where child in (select value from json_each(:ids))
