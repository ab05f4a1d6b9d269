-- notify: tell everyone who listens; a transaction of its own, which writes nothing.
select pg_notify(%(channel)s, %(message)s)
