-- rows: every job as it stands after the storm.
select id, type, status, result, lease_token, attempts, max_retries, crashed from job_queue
