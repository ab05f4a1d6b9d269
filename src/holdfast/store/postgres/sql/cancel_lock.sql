-- cancel_lock: no run of this group enqueues until the transaction ends.
select pg_advisory_xact_lock(4746, (hashtextextended(:scope::text, 0) & 63)::integer)
