-- pauses_all: everything that is paused, since when and by whom.
select scope, tenant, name, paused_at, paused_by from job_pauses order by scope, tenant, name
