-- units_take: admitted jobs hold a unit of each of their keys.
insert into job_units (key, job_id, since)
select u.value ->> 0, u.value ->> 1, :now::timestamptz from json_array_elements(:units::json) as u (value)
on conflict (key, job_id) do update set since = excluded.since, owner = null, until = null
