-- purge_history: deleted jobs take their history along.
delete from job_history where job_id = any (:ids::text[])
