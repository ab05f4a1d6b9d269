-- lane_queues: in whose queues the first of some lines wait.
select distinct (
    select j.queue from job_queue as j indexed by job_queue_lane
    where j.status = 'queued' and j.lane is not null and (j.held = 32 or j.held = 33) and j.lane = k.value
    order by j.priority, j.scheduled_at limit 1)
from json_each(:keys) as k
