-- forget_cancels: drop the marks of cancels so old that no run began before them.
delete from job_cancels where at < :before::timestamptz
