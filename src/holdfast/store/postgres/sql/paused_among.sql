-- paused_among: the bits of `held` for jobs of these tenants and groups, which stay true until the transaction ends.
select given.tenant, given.group_key, holdfast_held(given.tenant, given.group_key)
from unnest(:tenants::text[], :groups::text[]) as given (tenant, group_key)
