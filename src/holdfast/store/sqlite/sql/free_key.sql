-- free_key: take the idempotency key off an ended job whose window is over.
update job_queue set idempotency_key = null, key_until = null where id = :id
