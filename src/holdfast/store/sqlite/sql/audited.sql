-- audited: the newest lines below a cursor.
select id, at, actor, act, tenant, queue, type, jobs from job_audit
where id < :before and (:tenant is null or tenant = :tenant)
order by id desc limit :limit
