-- cancel_gracefully: ask a run to stop; it may still complete, any other ending becomes cancelled.
update job_queue set
    cancel_requested_at = :now::timestamptz, updated_at = :now::timestamptz, version = version + 1
where id = :id and (:tenant::text is null or tenant = :tenant) and status = 'in_progress' and cancel_requested_at is null
