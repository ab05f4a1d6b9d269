-- idle_worst: of the jobs that were admitted for a key and that nobody has claimed, the one with the worst priority.
select j.id, j.priority, j.limits::text from job_units as u join job_queue as j on j.id = u.job_id
where u.key = :key and u.owner is null and j.status = 'queued' and j.lane is null
order by j.priority desc, j.scheduled_at desc, j.id desc limit 1
