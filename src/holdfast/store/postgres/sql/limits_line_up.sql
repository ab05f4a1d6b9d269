-- limits_line_up: jobs that wait again go back in line for their first key.
update job_queue set lane = limits ->> 0, held = held | 32
where id = any (array (select json_array_elements_text(:ids::json))) and limits is not null and status = 'queued'
returning id
