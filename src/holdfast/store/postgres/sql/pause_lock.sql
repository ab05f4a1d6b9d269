-- pause_lock: whoever stores jobs of this tenant or group has committed, and nobody does until the transaction ends.
select pg_advisory_xact_lock(4745, (hashtextextended(:scope::text, 0) & 63)::integer)
