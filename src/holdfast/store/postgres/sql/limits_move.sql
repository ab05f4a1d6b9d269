-- limits_move: these jobs stand in line for another of their keys.
update job_queue as j set lane = m.value ->> 1 from json_array_elements(:moves::json) as m (value)
where j.id = m.value ->> 0 and j.completed_at is null and j.lane is not null
