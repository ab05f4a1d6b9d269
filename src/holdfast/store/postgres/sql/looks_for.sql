-- looks_for: look at the lines of some jobs when they are due. Their ids are one array: joined to them, and with statistics
-- from a time when nothing stood in line, the planner would read the whole table.
insert into job_looks (at, key)
select distinct greatest(scheduled_at, :at::timestamptz), lane from job_queue
where id = any (array (select json_array_elements_text(:ids::json))) and lane is not null
