-- out_lanes: the state of every rate, in the order of the keys.
select key, tat, blocked_until from job_lanes
order by key
