-- cancel_waiting: end a job that nobody runs; tells the status that was left.
with waiting as (
    select id, status from job_queue
    where id = :id and (:tenant::text is null or tenant = :tenant) and status in ('queued', 'awaiting_auth')
    for update
)
update job_queue as j set
    status = 'cancelled', completed_at = :now::timestamptz, updated_at = :now::timestamptz, error = :error,
    auth = null, auth_key = null, auth_until = null, auth_data = null, version = version + 1
from waiting as w where j.id = w.id
returning w.status
