-- cancel_running: end a run now. The token grows, so whatever its worker still sends is refused.
update job_queue set
    status = 'cancelled', completed_at = :now::timestamptz, updated_at = :now::timestamptz,
    cancel_requested_at = coalesce(cancel_requested_at, :now::timestamptz),
    error = :error, lease_owner = null, lease_until = null, lease_token = lease_token + 1, auth_data = null,
    version = version + 1
where id = :id and (:tenant::text is null or tenant = :tenant) and lease_owner is not null and lease_until is not null
