-- became: how a transaction ended (committed, aborted, in progress; null if the server no longer knows), and whether a job
-- that it made is there. The number alone proves no commit: after a crash it may have been given to another transaction.
-- A number above our own was given by a primary that is gone, and did not reach the standby that took its place. A standby
-- has no number of its own to compare with, so it refuses to answer, as it should: it may be behind.
select
    case when :mark::xid8 > pg_current_xact_id() then 'aborted' else pg_xact_status(:mark::xid8) end,
    exists (select from job_queue where id = :witness)
