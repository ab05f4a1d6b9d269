-- cancel_running: end a run now. The token grows, so whatever its worker still sends is refused.
update job_queue set
    status = 'cancelled', completed_at = :now, updated_at = :now, cancel_requested_at = coalesce(cancel_requested_at, :now),
    error = :error, lease_owner = null, lease_until = null, lease_token = lease_token + 1, auth_data = null,
    version = version + 1
where id = :id and (:tenant is null or tenant = :tenant) and status = 'in_progress'
