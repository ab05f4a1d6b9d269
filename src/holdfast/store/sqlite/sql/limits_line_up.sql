-- limits_line_up: jobs that wait again go back in line for their first key.
update job_queue set lane = limits ->> '$[0]', held = held | 32
where id in (select value from json_each(:ids)) and limits is not null and status = 'queued'
returning id
