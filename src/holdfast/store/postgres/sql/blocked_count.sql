-- blocked_count: jobs that wait for others, by queue and type, counted up to a cap.
select queue, type, count(*) from (
    select queue, type from job_queue where status = 'queued' and blocked > 0 order by queue, type limit :cap
) as counted group by queue, type
