-- session: the number of the server's process behind this connection; a pooler tells its callers one of its own.
select pg_backend_pid()
