-- audit: a line about an act whose jobs leave no other trace.
insert into job_audit (id, at, actor, act, tenant, queue, type, jobs)
values (:id, :now::timestamptz, :actor, :act, :tenant, :queue, :type, :jobs::json)
