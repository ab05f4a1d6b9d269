-- looks_for: look at the lines of some jobs when they are due. Those that are due now and better than most come first: their
-- notes bear an earlier instant. Their ids are one array: joined to them, and with statistics from a time when nothing stood
-- in line, the planner would read the whole table.
insert into job_looks (at, key)
select distinct
    case
        when scheduled_at > :at::timestamptz then scheduled_at
        else :at::timestamptz - greatest(0, :lead * (5 - priority)) * interval '1 minute'
    end,
    lane
from job_queue
where id = any (array (select json_array_elements_text(:ids::json))) and lane is not null
