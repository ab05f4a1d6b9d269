-- in_pauses: pauses as another store had them, in bulk.
copy job_pauses (scope, tenant, name, paused_at, paused_by) from stdin
