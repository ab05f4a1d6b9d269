-- units_claim: a worker has claimed these jobs.
update job_units set owner = :owner where job_id in (select value from json_each(:ids))
