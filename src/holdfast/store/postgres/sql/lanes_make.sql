-- lanes_make: rates begin with nothing saved up.
insert into job_lanes (key, tat)
select l.value ->> 0, (l.value ->> 1)::double precision from json_array_elements(:lanes::json) as l (value)
on conflict do nothing
