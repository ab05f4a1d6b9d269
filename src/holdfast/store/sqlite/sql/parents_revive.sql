-- parents_revive: jobs that ended because a parent did wait again, for so many.
update job_queue set
    status = 'queued', completed_at = null, error = null, cancel_requested_at = null,
    blocked = again.number, held = held | :bit, updated_at = :now, version = version + 1
from (select value ->> 0 as id, value ->> 1 as number from json_each(:counts)) as again
where job_queue.id = again.id and +status = 'cancelled'
returning job_queue.id, attempts
