-- history: add a line to a job's history.
insert into job_history (job_id, line, at, from_status, to_status, why, attempt, worker, error_class, actor)
select :id, 1 + coalesce((select max(line) from job_history where job_id = :id), 0), :now, :from_status,
    (select status from job_queue where id = :id), :why, :attempt, :worker, :error_class, :actor
