-- in_history: lines of history as another store had them, in bulk.
copy job_history (job_id, line, at, from_status, to_status, why, attempt, worker, error_class, actor) from stdin
