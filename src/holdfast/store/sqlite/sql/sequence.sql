-- sequence: the last number that was given for a coalesce key, its job, and how that ended if it is gone.
select sequence, job_id, ended from job_sequences
where tenant = :tenant and type = :type and coalesce_key = :coalesce_key
