-- free_active_key: ended jobs let go of a key that was kept for their active life only.
update job_queue set idempotency_key = null, key_until = null
where id = any (:ids::text[]) and key_until = 'active'
