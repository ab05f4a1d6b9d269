-- in_looks: a line to look at, as another store had it.
insert into job_looks (at, key)
values (:at, :key)
