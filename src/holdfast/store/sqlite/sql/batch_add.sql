-- batch_add: store a new batch; a taken key answers the batch that has it, which stays as it was.
insert into job_batches (id, tenant, group_key, type, queue, total, callback, idempotency_key, digest, created_at)
values (:id, :tenant, :group, :type, :queue, :total, :callback, :key, :digest, :now)
on conflict (tenant, idempotency_key) where idempotency_key is not null do update
set version = job_batches.version
returning id, type, digest
