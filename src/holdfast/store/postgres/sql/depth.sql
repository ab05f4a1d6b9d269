-- depth: how many jobs wait in a queue, counted up to a cap.
select count(*) from (
    select from job_queue where status = 'queued' and held = 0 and queue = :queue limit :cap
) as counted
