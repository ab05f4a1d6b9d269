-- history_mend: say more in a line that is there.
update job_history set why = :why, at = :now where job_id = :id and line = :line
