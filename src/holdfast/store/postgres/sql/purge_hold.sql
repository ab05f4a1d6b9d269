-- purge_hold: lock ended jobs before they are deleted: after it, a job that was just made to wait for one of them is seen.
select id from job_queue where id = any (:ids::text[]) and completed_at is not null order by id for update
