-- insert: store one new job, held if its group or its tenant is paused; a taken idempotency key leaves the table as it was.
insert into job_queue (
    id, type, priority, scheduled_at, payload, idempotency_key, max_retries, created_at, updated_at,
    queue, tenant, group_key, context, payload_version, timeout_ms, key_until, held
) values (
    :id, :type, :priority, :scheduled_at, :payload, :key, :max_attempts, :now, :now,
    :queue, :tenant, :group, :context, :payload_version, :timeout_ms, :key_until,
    case when :group is null and :tenant = '' then 0 else (
        select coalesce(sum(case scope when 'group' then 8 else 16 end), 0) from job_pauses
        where tenant = :tenant and (scope = 'group' and name = :group or scope = 'tenant' and name = :tenant)
    ) end
) on conflict (tenant, idempotency_key) where idempotency_key is not null do nothing
