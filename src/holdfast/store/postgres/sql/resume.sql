-- resume: let claims from a queue go on.
delete from job_pauses where scope = 'queue' and name = :name
