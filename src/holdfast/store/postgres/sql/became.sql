-- became: how a transaction ended (committed, aborted, in progress; null if the server no longer knows), and whether a job
-- that it made is there. The number alone proves no commit: after a crash it may have been given to another transaction.
select pg_xact_status(:mark::xid8), exists (select from job_queue where id = :witness)
