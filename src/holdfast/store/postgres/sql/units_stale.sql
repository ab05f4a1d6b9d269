-- units_stale: jobs that were admitted a while ago and that nobody has claimed.
select distinct u.job_id, j.queue, j.type, j.payload_version, j.limits::text
from (
    select job_id from job_units where owner is null and since <= :before::timestamptz order by since limit :limit
) as u join job_queue as j on j.id = u.job_id
where j.status = 'queued' and j.scheduled_at <= :now::timestamptz
