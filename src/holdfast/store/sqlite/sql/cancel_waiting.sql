-- cancel_waiting: end a job that nobody runs.
update job_queue set
    status = 'cancelled', completed_at = :now, updated_at = :now, error = :error, auth = null,
    auth_key = null, auth_until = null, auth_data = null, version = version + 1
where id = :id and (:tenant is null or tenant = :tenant) and status in ('queued', 'awaiting_auth')
