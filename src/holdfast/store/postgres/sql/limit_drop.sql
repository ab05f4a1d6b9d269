-- limit_drop: forget a limit.
delete from job_limits where name = :name
