-- history_last: the last line of a job's history.
select line, why from job_history where job_id = :id order by line desc limit 1
