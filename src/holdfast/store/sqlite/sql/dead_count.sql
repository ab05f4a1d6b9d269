-- dead_count: dead letters by queue and type, counted up to a cap.
select queue, type, status, count(*) from (
    select queue, type, status from job_queue indexed by job_queue_attention
    where (status = 'failed' or status = 'dead_letter' or status = 'awaiting_auth') limit :cap
) group by queue, type, status
