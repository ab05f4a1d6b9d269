-- key_holder: which job holds an idempotency key, and whether the caller asks for the same again. The payload is asked for
-- as text, because on a caller's own connection the driver may be told to read JSON.
select id, type, payload::text, status, key_until from job_queue where tenant = :tenant and idempotency_key = :key
