-- out_units: every unit that is held, in the order of the keys.
select key, job_id, since, owner, until from job_units
order by key, job_id
