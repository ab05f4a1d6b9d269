-- newest_running: the job of a coalesce key that runs.
select id from job_queue
where tenant = :tenant and type = :type and coalesce_key = :coalesce_key and status = 'in_progress'
