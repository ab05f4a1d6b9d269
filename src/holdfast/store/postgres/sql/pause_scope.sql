-- pause_scope: stop claims of a group or a tenant; what runs goes on.
insert into job_pauses (scope, tenant, name, paused_at, paused_by)
values (:scope, :tenant, :name, :now::timestamptz, :by)
on conflict do nothing
