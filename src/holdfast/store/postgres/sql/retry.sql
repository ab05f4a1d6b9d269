-- retry: a person sends an ended job round again; counters start anew, token and history go on.
update job_queue set
    status = 'queued', scheduled_at = :now::timestamptz, completed_at = null, result = null, error = null, progress = null,
    cancel_requested_at = null,
    held = case when group_key is null and tenant = '' then 0 else holdfast_held(tenant, group_key) end,
    attempts = 0, failed = 0, crashed = 0, parks = 0, updated_at = :now::timestamptz,
    version = version + 1
where id = :id and (:tenant::text is null or tenant = :tenant) and status in ('failed', 'dead_letter')
