-- history_mend: say more in a line that is there.
update job_history set why = :why, at = :now::timestamptz where job_id = :id and line = :line
