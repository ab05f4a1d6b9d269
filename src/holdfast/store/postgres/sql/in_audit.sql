-- in_audit: lines about purged jobs as another store had them, in bulk.
copy job_audit (id, at, actor, act, tenant, queue, type, jobs) from stdin
