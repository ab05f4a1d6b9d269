-- in_pauses: a pause as another store had it.
insert into job_pauses (scope, tenant, name, paused_at, paused_by)
values (:scope, :tenant, :name, :paused_at, :paused_by)
