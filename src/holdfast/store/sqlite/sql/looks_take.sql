-- looks_take: which lines are to be looked at now; whoever asks does it.
delete from job_looks where (at, key) in (select at, key from job_looks where at <= :now order by at, key limit :limit)
returning key
