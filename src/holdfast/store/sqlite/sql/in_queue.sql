-- in_queue: a job as another store had it.
insert into job_queue (
    id, type, status, priority, scheduled_at, lease_owner, lease_until, payload, idempotency_key, attempts, max_retries,
    error, created_at, updated_at, started_at, completed_at, result, queue, tenant, group_key, lease_token, failed, crashed,
    interrupted, context, payload_version, coalesce_key, sequence, progress, cancel_requested_at, held, timeout_ms,
    key_until, version, blocked, children, on_parent, limits, lane, batch, item, parks, auth, auth_key, auth_until, auth_data
) values (
    :id, :type, :status, :priority, :scheduled_at, :lease_owner, :lease_until, :payload, :idempotency_key, :attempts, :max_retries,
    :error, :created_at, :updated_at, :started_at, :completed_at, :result, :queue, :tenant, :group_key, :lease_token, :failed, :crashed,
    :interrupted, :context, :payload_version, :coalesce_key, :sequence, :progress, :cancel_requested_at, :held, :timeout_ms,
    :key_until, :version, :blocked, :children, :on_parent, :limits, :lane, :batch, :item, :parks, :auth, :auth_key, :auth_until, :auth_data
)
