-- cancel_ask_many: ask runs to stop; each may still complete, any other ending becomes cancelled.
update job_queue set cancel_requested_at = :now::timestamptz, updated_at = :now::timestamptz, version = version + 1
where id = any (:ids::text[]) and lease_owner is not null and cancel_requested_at is null
