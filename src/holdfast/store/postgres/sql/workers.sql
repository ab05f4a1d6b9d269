-- workers: the workers heard of since a stamp.
select id, host, pid, started_at, seen_at, lanes, places, running from job_workers
where seen_at >= :since::timestamptz order by id
