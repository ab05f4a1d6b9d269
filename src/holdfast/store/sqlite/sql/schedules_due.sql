-- schedules_due: the schedules with a tick to deal with; those, too, that are ahead of a clock that was set back.
select name from job_schedules
where paused_at is null and removed = 0 and (next_tick <= :now or (next_tick is not null and last_tick > :now))
order by next_tick, name
