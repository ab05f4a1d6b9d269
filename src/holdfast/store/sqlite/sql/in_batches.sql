-- in_batches: a batch as another store had it.
insert into job_batches (
    id, tenant, group_key, type, queue, total, done, failed, cancelled, callback, callback_job, idempotency_key, digest,
    created_at, ended_at, version
) values (
    :id, :tenant, :group_key, :type, :queue, :total, :done, :failed, :cancelled, :callback, :callback_job, :idempotency_key,
    :digest, :created_at, :ended_at, :version
)
