-- looks_for: look at the lines of some jobs when they are due.
insert into job_looks (at, key)
select distinct greatest(scheduled_at, :at::timestamptz), lane from job_queue
where id in (select json_array_elements_text(:ids::json)) and lane is not null
