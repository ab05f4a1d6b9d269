-- in_lanes: the state of a rate, as another store had it.
insert into job_lanes (key, tat, blocked_until)
values (:key, :tat, :blocked_until)
