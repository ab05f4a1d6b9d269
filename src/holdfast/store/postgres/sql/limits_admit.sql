-- limits_admit: these jobs may be claimed.
update job_queue set held = held & ~32, lane = null
where id = any (array (select json_array_elements_text(:ids::json))) and completed_at is null and lane is not null
returning id, queue
