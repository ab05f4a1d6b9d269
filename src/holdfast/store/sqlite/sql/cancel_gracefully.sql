-- cancel_gracefully: ask a run to stop; it may still complete, any other ending becomes cancelled.
update job_queue set cancel_requested_at = :now, updated_at = :now, version = version + 1
where id = :id and (:tenant is null or tenant = :tenant) and status = 'in_progress' and cancel_requested_at is null
