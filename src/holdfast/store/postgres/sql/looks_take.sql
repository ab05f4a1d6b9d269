-- looks_take: which lines are to be looked at now; whoever asks does it.
delete from job_looks as l using (
    select at, id from job_looks where at <= :now::timestamptz order by at, id limit :limit
) as due
where l.at = due.at and l.id = due.id
returning l.key
