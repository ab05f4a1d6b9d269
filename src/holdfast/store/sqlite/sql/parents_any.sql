-- parents_any: whether any job was ever made to wait for another; asked once for a batch of endings.
select exists (select 1 from job_parents)
