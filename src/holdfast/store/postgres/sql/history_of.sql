-- history_of: a job's history, oldest first.
select at, from_status, to_status, why, attempt, worker, error_class, actor
from job_history where job_id = :id order by line
