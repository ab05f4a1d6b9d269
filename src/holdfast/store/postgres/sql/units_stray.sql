-- units_stray: drop units of jobs that neither wait admitted nor run: none should be there.
delete from job_units where until is null and job_id in (
    select u.job_id from job_units as u left join job_queue as j on j.id = u.job_id
    where u.since < :before::timestamptz and (j.id is null or not (
        j.status = 'in_progress' or (j.status = 'queued' and j.lane is null)))
    limit 1000)
returning key
