-- complete: end runs that went well, those whose leases are still held. The same as `finish`, for many at once. They come
-- as {"token:id": result}, which needs no parsing for each. The plus keeps the planner from walking all leases instead of
-- finding each run by its id.
update job_queue set
    status = 'completed', completed_at = :now, result = ended.value, error = null, held = held & ~:free,
    lease_owner = null, lease_until = null, updated_at = :now, version = version + 1
from json_each(:ended) as ended
where job_queue.id = substr(ended.key, instr(ended.key, ':') + 1) and lease_token = cast(ended.key as integer)
    and +status = 'in_progress'
