-- units_take: admitted jobs hold a unit of each of their keys.
insert into job_units (key, job_id, since)
select value ->> 0, value ->> 1, :now from json_each(:units) where true
on conflict (key, job_id) do update set since = excluded.since, owner = null, until = null
