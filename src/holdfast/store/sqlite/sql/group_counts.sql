-- group_counts: groups in numbers, each status once; the versions added up change with every visible change of a job. Last, the
-- bits of the pauses that hold them.
select g.value ->> 0, g.value ->> 1, j.status, count(*), sum(j.version)
from json_each(:groups) as g
cross join job_queue as j indexed by job_queue_groups on j.tenant = g.value ->> 0 and j.group_key = g.value ->> 1
group by 1, 2, 3
union all
select g.value ->> 0, g.value ->> 1, 'paused', sum(case p.scope when 'group' then 8 else 16 end), 0
from json_each(:groups) as g
join job_pauses as p on p.tenant = g.value ->> 0
    and (p.scope = 'group' and p.name = g.value ->> 1 or p.scope = 'tenant' and p.name = g.value ->> 0)
group by 1, 2
