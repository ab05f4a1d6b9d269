-- looks_for: look at the lines of some jobs when they are due. Those that are due now and better than most come first: their
-- notes bear an earlier instant.
insert into job_looks (at, key)
select distinct
    case
        when scheduled_at > :at then scheduled_at
        else strftime('%Y-%m-%dT%H:%M:%fZ', :at, '-' || max(0, :lead * (5 - priority)) || ' minutes')
    end,
    lane
from job_queue
where id in (select value from json_each(:ids)) and lane is not null
on conflict do nothing
