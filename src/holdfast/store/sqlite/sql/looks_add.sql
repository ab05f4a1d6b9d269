-- looks_add: look at some lines at some times.
insert into job_looks (key, at) select value ->> 0, value ->> 1 from json_each(:looks) where true on conflict do nothing
