-- units_stale: jobs that were admitted a while ago and that nobody has claimed.
select distinct u.job_id, j.queue, j.type, j.payload_version, j.limits
from job_units as u indexed by job_units_idle join job_queue as j on j.id = u.job_id
where u.owner is null and u.since <= :before and j.status = 'queued' and j.scheduled_at <= :now
order by u.since limit :limit
