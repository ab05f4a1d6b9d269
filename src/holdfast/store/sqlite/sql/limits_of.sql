-- limits_of: the keys of a job, if it has any, and its lease.
select limits, lease_until from job_queue where id = :id and limits is not null
