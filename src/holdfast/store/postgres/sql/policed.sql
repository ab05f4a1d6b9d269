-- policed: whether row-level security narrows what this role sees of a table.
select row_security_active(to_regclass('job_queue'))
