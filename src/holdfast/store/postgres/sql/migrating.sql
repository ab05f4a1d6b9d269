-- migrating: one migration at a time in a database, whoever asks; the transaction's end lets the next one in.
select pg_advisory_xact_lock(hashtextextended('holdfast.migrate', 0))
