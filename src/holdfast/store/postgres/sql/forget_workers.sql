-- forget_workers: drop workers not heard of since a stamp, or one that says goodbye.
delete from job_workers where seen_at < :before::timestamptz or id = :id
