-- running: runs in progress by queue and type, and how many of their leases have run out.
select queue, type, count(*), count(*) filter (where lease_until < :now::timestamptz) from job_queue
where status = 'in_progress' group by queue, type
