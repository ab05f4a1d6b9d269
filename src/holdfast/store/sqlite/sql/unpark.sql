-- unpark: parked jobs go on, each with the answer that a person gave, if any. The plus keeps the planner from walking all
-- that waits for a person.
update job_queue set
    status = 'queued', scheduled_at = :now, auth = null, auth_key = null, auth_until = null, auth_data = a.data,
    updated_at = :now, version = version + 1
from (select value ->> 0 as id, value ->> 1 as data from json_each(:answers)) as a
where job_queue.id = a.id and +status = 'awaiting_auth'
returning id, queue, attempts
