-- group_counts: groups in numbers, each status once; the versions added up change with every visible change of a job. Last, the
-- bits of the pauses that hold them.
with g as (
    select value ->> 0 as tenant, value ->> 1 as group_key from json_array_elements(:groups::json) as given (value)
)
select g.tenant, g.group_key, told.status, told.number, told.versions
from g cross join lateral ( -- each by its index, however many groups the planner thinks there are
    select j.status, count(*) as number, sum(j.version)::bigint as versions from job_queue as j
    where j.tenant = g.tenant and j.group_key = g.group_key
    group by j.status
) as told
union all
select g.tenant, g.group_key, 'paused', sum(case p.scope when 'group' then 8 else 16 end), 0
from g join job_pauses as p on p.tenant = g.tenant
    and (p.scope = 'group' and p.name = g.group_key or p.scope = 'tenant' and p.name = g.tenant)
group by g.tenant, g.group_key
