-- in_history: a line of history as another store had it.
insert into job_history (job_id, line, at, from_status, to_status, why, attempt, worker, error_class, actor)
values (:job_id, :line, :at, :from_status, :to_status, :why, :attempt, :worker, :error_class, :actor)
