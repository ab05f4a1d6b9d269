-- cancel_lock_shared: the group is not cancelled until the transaction ends.
select pg_advisory_xact_lock_shared(4746, (hashtextextended(:scope::text, 0) & 63)::integer)
