-- cancel_running: end a run now. The token grows, so whatever its worker still sends is refused. Its handler is at work
-- until somebody says that it has stopped.
with run as (
    select id, lease_token, lease_until from job_queue
    where id = :id and (:tenant::text is null or tenant = :tenant) and lease_owner is not null and lease_until is not null
    for update
),
noted as (
    insert into job_stopping (job_id, token, until) select id, lease_token, lease_until from run on conflict do nothing
)
update job_queue as j set
    status = 'cancelled', completed_at = :now::timestamptz, updated_at = :now::timestamptz,
    cancel_requested_at = coalesce(j.cancel_requested_at, :now::timestamptz),
    error = :error, lease_owner = null, lease_until = null, lease_token = j.lease_token + 1, auth_data = null,
    version = j.version + 1
from run where j.id = run.id
