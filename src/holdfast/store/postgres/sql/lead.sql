-- lead: become or stay the leader, if nobody else is.
insert into job_leader (name, owner, until) values ('upkeep', :owner, :until::timestamptz)
on conflict (name) do update set owner = excluded.owner, until = excluded.until
where job_leader.owner = excluded.owner or job_leader.until < :now::timestamptz
