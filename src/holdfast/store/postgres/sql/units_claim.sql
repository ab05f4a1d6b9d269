-- units_claim: a worker has claimed these jobs.
update job_units set owner = :owner where job_id in (select json_array_elements_text(:ids::json))
