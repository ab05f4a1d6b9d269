-- next_expiry: when the earliest lease ends that has not ended yet.
select min(lease_until) from job_queue where status = 'in_progress' and lease_until >= :now::timestamptz
