-- looks_add: look at some lines at some times.
insert into job_looks (key, at)
select distinct l.value ->> 0, (l.value ->> 1)::timestamptz from json_array_elements(:looks::json) as l (value)
