-- blocked_count: jobs that wait for others, by queue and type, counted up to a cap.
select queue, type, count(*) from (
    select queue, type from job_queue indexed by job_queue_blocked where status = 'queued' and blocked > 0 limit :cap
) group by queue, type
