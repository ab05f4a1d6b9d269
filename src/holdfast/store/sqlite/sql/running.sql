-- running: runs in progress by queue and type, and how many of their leases have run out.
select queue, type, count(*), sum(lease_until < :now) from job_queue indexed by job_queue_leases
where status = 'in_progress' group by queue, type
