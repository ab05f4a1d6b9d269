-- move_leases: how many runs are under way.
select count(*) from job_queue where status = 'in_progress' and lease_until >= :now::timestamptz
