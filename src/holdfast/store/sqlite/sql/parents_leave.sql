-- parents_leave: nobody waits any more for jobs that were overtaken, and that nobody can send round again.
delete from job_parents where parent in (select value from json_each(:ids))
