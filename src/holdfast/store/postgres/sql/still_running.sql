-- still_running: those of some cancelled jobs whose handlers have not ended, as far as is known.
select distinct job_id from job_stopping where job_id = any (:ids::text[]) and until > :now::timestamptz
