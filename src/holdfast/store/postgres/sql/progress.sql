-- progress: show how far a run is, but only for the worker that still holds the lease.
update job_queue set progress = :progress::json, updated_at = :now::timestamptz, version = version + 1
where id = :id and lease_token = :token and lease_owner is not null and lease_until is not null
