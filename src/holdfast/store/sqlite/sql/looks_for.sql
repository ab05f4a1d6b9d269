-- looks_for: look at the lines of some jobs when they are due.
insert into job_looks (at, key)
select distinct max(scheduled_at, :at), lane from job_queue
where id in (select value from json_each(:ids)) and lane is not null
on conflict do nothing
