-- limits_admit: these jobs may be claimed.
update job_queue set held = held & ~32, lane = null
where id in (select value from json_each(:ids)) and status = 'queued' and lane is not null
returning id, queue
