-- became: how a transaction ended: committed, aborted, in progress; null if the server no longer knows.
select pg_xact_status(:mark::xid8)
