-- out_pauses: every pause, in the order of its key.
select scope, tenant, name, paused_at, paused_by from job_pauses order by scope, tenant, name
