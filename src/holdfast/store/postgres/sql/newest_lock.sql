-- newest_lock: one transaction at a time for a coalesce key: who enqueues, and who ends its run.
select pg_advisory_xact_lock(hashtextextended(k.tenant || chr(31) || k.type || chr(31) || k.coalesce_key, 1))
from unnest(:tenants::text[], :types::text[], :keys::text[]) as k (tenant, type, coalesce_key)
