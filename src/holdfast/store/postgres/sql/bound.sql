-- bound: whether this role is held to the tenant that is set: policies apply to it, and none but the tenants' own.
select row_security_active('job_queue') and not exists (
    select from pg_policy as p cross join unnest(p.polroles) as r (role)
    where p.polrelid = to_regclass('job_queue') and p.polname <> 'job_queue_tenant'
        and (r.role = 0 or pg_has_role(r.role, 'usage'))
)
