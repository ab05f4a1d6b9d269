-- pause: stop claims from a queue; what runs goes on.
insert into job_pauses (scope, name, paused_at, paused_by) values ('queue', :name, :now::timestamptz, :by)
on conflict do nothing
