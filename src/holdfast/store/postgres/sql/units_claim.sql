-- units_claim: a worker has claimed these jobs.
update job_units set owner = :owner where job_id = any (array (select json_array_elements_text(:ids::json)))
