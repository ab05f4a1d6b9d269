-- limits_back: a job that was admitted, and that nobody has claimed, goes back in line.
update job_queue set held = held | 32, lane = b.value ->> 1 from json_each(:back) as b
where job_queue.id = b.value ->> 0 and status = 'queued' and lane is null and limits is not null
returning id
