-- server_commit: a transaction that writes nothing but its own end.
select pg_current_xact_id()
