-- batch_by_key: who has an idempotency key among batches.
select id, type, digest from job_batches where tenant = :tenant and idempotency_key = :key
