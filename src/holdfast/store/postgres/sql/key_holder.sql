-- key_holder: which job holds an idempotency key, and whether the caller asks for the same again.
select id, type, payload, status, key_until from job_queue where tenant = :tenant and idempotency_key = :key
