-- unpark: parked jobs go on, each with the answer that a person gave, if any.
update job_queue as j set
    status = 'queued', scheduled_at = :now::timestamptz, auth = null, auth_key = null, auth_until = null,
    auth_data = a.one ->> 1, updated_at = :now::timestamptz, version = version + 1
from json_array_elements(:answers::json) as a (one)
where j.id = a.one ->> 0 and j.status = 'awaiting_auth'
returning j.id, j.queue, j.attempts
