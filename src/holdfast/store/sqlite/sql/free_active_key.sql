-- free_active_key: an ended job lets go of a key that was kept for its active life only.
update job_queue set idempotency_key = null, key_until = null where id = :id and key_until = 'active'
