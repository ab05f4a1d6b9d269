-- purge_history: a deleted job takes its history along.
delete from job_history where job_id = :id
