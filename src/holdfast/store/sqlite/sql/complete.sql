-- complete: end runs that went well, those whose leases are still held. The same as `finish`, for many at once. The plus
-- keeps the planner from walking all leases instead of finding each run by its id.
update job_queue set
    status = 'completed', completed_at = :now, result = ended.result, error = null, held = held & ~:free,
    lease_owner = null, lease_until = null, updated_at = :now, version = version + 1
from (select value ->> 0 as id, value ->> 1 as token, value ->> 2 as result from json_each(:ended)) as ended
where job_queue.id = ended.id and lease_token = ended.token and +status = 'in_progress'
