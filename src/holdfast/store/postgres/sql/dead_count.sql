-- dead_count: dead letters by queue and type, counted up to a cap.
select queue, type, status, count(*) from (
    select queue, type, status from job_queue
    where status = 'failed' or status = 'dead_letter' or status = 'awaiting_auth'
    order by id
    limit :cap
) as counted group by queue, type, status
