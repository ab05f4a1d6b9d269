-- purge: delete an ended job for good, while it is still in the status it was seen in.
delete from job_queue where id = :id and status = :status and completed_at is not null
