-- lane_queues: in whose queues the first of some lines wait.
select distinct (
    select j.queue from job_queue as j
    where j.status = 'queued' and j.lane is not null and (j.held = 32 or j.held = 33) and j.lane = k.key
    order by j.lane, j.priority, j.scheduled_at limit 1)
from json_array_elements_text(:keys::json) as k (key)
