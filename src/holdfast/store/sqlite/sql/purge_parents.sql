-- purge_parents: nobody waits for a deleted job, and it waits for nobody.
delete from job_parents where parent = :id or child = :id
