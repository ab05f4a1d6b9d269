-- units_keep: a run was ended by others: it holds its units until its handler has stopped, or for as long as its lease.
update job_units set until = :until::timestamptz where job_id = :id returning key
