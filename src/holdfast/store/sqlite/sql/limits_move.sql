-- limits_move: these jobs stand in line for another of their keys.
update job_queue set lane = m.value ->> 1 from json_each(:moves) as m
where job_queue.id = m.value ->> 0 and status = 'queued' and lane is not null
