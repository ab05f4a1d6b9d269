-- due: the head of one lane, as one row: a step for each job would hand the interpreter over each time.
select json_group_array(json_array(scheduled_at, id)) from (
    select scheduled_at, id from job_queue indexed by job_queue_due
    where status = 'queued' and held = 0
        and queue = :queue and type = :type and payload_version = :payload_version and priority = :priority
        and scheduled_at <= :now
    order by scheduled_at, id
    limit :limit
)
