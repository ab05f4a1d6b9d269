-- retry: a person sends an ended job round again; counters start anew, token and history go on.
update job_queue set
    status = 'queued', scheduled_at = :now, completed_at = null, result = null, error = null, progress = null,
    cancel_requested_at = null, held = case when group_key is null and tenant = '' then 0 else (
        select coalesce(sum(case scope when 'group' then 8 else 16 end), 0) from job_pauses as p
        where p.tenant = job_queue.tenant
            and (p.scope = 'group' and p.name = group_key or p.scope = 'tenant' and p.name = job_queue.tenant)
    ) end, attempts = 0, failed = 0, crashed = 0, parks = 0, updated_at = :now, version = version + 1
where id = :id and (:tenant is null or tenant = :tenant) and status in ('failed', 'dead_letter')
