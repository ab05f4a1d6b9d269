-- looks_next: when a line is to be looked at next.
select min(at) from job_looks
