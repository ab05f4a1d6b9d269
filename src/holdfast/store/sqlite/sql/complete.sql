-- complete: end a run that returned, the commonest ending, but only for the worker that still holds the lease.
update job_queue set
    status = 'completed', completed_at = :now, result = :result, error = null, held = held & ~:free,
    lease_owner = null, lease_until = null, updated_at = :now, version = version + 1
where id = :id and lease_token = :token and status = 'in_progress'
