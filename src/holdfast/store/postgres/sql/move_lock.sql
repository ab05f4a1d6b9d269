-- move_lock: one move at a time in a database; also waits for one that was killed until the server has undone it.
select pg_advisory_xact_lock(hashtextextended('holdfast.promote', 0))
