-- free_key: take the idempotency key off an ended job whose window is over, unless another caller just did.
update job_queue set idempotency_key = null, key_until = null
where id = :id and idempotency_key = :key and completed_at is not null
