-- cancel_many: end jobs now. The token of one that runs grows, so whatever its worker still sends is refused.
update job_queue set
    status = 'cancelled', completed_at = :now::timestamptz, updated_at = :now::timestamptz, error = :error,
    version = version + 1,
    cancel_requested_at = case
        when status = 'in_progress' then coalesce(cancel_requested_at, :now::timestamptz) else cancel_requested_at end,
    lease_token = lease_token + (status = 'in_progress')::integer, lease_owner = null, lease_until = null,
    idempotency_key = case when key_until = 'active' then null else idempotency_key end,
    key_until = case when key_until = 'active' then null else key_until end
where id = any (:ids::text[]) and completed_at is null
