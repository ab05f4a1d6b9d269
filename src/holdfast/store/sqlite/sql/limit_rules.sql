-- limit_rules: the limits that whole queues fall under.
select name, queues from job_limits where queues is not null and removed = 0
