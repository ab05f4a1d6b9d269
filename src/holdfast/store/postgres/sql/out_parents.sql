-- out_parents: which job waits for which, in the order of the keys.
select parent, child, done from job_parents order by parent, child
