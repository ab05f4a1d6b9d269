-- out_batches: every batch, in the order of the ids.
select
    id, tenant, group_key, type, queue, total, done, failed, cancelled, callback, callback_job, idempotency_key, digest,
    created_at, ended_at, version
from job_batches order by id collate "C"
