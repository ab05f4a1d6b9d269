-- lanes_make: rates begin with nothing saved up.
insert into job_lanes (key, tat) select value ->> 0, value ->> 1 from json_each(:lanes) where true on conflict do nothing
