-- limits_lock: one transaction at a time admits jobs; whoever does not get it leaves it to the one that has it.
select pg_try_advisory_xact_lock(hashtextextended('holdfast limits ' || current_schema(), 7))
