-- out_history: every line of history, in the order of its key.
select job_id, line, at, from_status, to_status, why, attempt, worker, error_class, actor
from job_history order by job_id, line
