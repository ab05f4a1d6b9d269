-- forget_audit: drop lines older than a stamp; few, so no index is worth its while.
delete from job_audit where at < :before::timestamptz
