-- history_trim: keep the newest hundred lines of a job.
delete from job_history
where job_id = :id and line <= (select max(line) from job_history where job_id = :id) - 100
