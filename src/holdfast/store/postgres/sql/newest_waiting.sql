-- newest_waiting: the job of a coalesce key that waits.
select id, status, attempts, created_at, queue from job_queue
where tenant = :tenant and type = :type and coalesce_key = :coalesce_key
    and (status = 'queued' or status = 'awaiting_auth')
