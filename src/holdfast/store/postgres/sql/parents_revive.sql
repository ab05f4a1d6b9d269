-- parents_revive: jobs that ended because a parent did wait again, for so many.
update job_queue as j set
    status = 'queued', completed_at = null, error = null, cancel_requested_at = null,
    blocked = (again ->> 1)::integer, held = j.held | :bit::integer, updated_at = :now::timestamptz,
    version = j.version + 1
from json_array_elements(:counts::json) as again
where j.id = again ->> 0 and j.status = 'cancelled'
returning j.id, j.attempts
