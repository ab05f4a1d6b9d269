-- in_audit: a line about purged jobs as another store had it.
insert into job_audit (id, at, actor, act, tenant, queue, type, jobs)
values (:id, :at, :actor, :act, :tenant, :queue, :type, :jobs)
