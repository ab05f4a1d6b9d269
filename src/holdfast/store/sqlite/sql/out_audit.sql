-- out_audit: every line about purged jobs, in the order of its key.
select id, at, actor, act, tenant, queue, type, jobs from job_audit order by id
