-- out_looks: every line to look at, in the order of the times.
select at, key from job_looks
order by at, key
