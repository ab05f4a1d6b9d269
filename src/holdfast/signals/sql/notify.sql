-- notify: tell everyone who listens. Its commit is written like any other's; what it says is in the database already, so
-- nobody waits for the disk once more.
select set_config('synchronous_commit', 'off', true), pg_notify(%(channel)s, %(message)s)
