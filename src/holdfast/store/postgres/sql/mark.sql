-- mark: the number of this transaction, by which its end can be asked for should the commit go unanswered.
select pg_current_xact_id()::text
