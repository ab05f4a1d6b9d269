-- cancel_gracefully: ask a run to stop; it may still complete, any other ending becomes cancelled.
update job_queue set
    cancel_requested_at = :now::timestamptz, updated_at = :now::timestamptz, version = version + 1
where id = :id and (:tenant::text is null or tenant = :tenant) and lease_owner is not null and lease_until is not null and cancel_requested_at is null
