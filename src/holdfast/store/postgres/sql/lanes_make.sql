-- lanes_make: rates begin with nothing saved up. One that is there is passed by: to meet it would be to wait for whoever
-- changes it.
insert into job_lanes (key, tat)
select l.value ->> 0, (l.value ->> 1)::double precision from json_array_elements(:lanes::json) as l (value)
where not exists (select from job_lanes as j where j.key = l.value ->> 0)
on conflict do nothing
