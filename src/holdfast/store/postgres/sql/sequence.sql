-- sequence: the last number that was given for a coalesce key, and its job.
select sequence, job_id from job_sequences
where tenant = :tenant and type = :type and coalesce_key = :coalesce_key
