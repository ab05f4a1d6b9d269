-- in_units: a unit that a job holds, as another store had it.
insert into job_units (key, job_id, since, owner, until)
values (:key, :job_id, :since, :owner, :until)
