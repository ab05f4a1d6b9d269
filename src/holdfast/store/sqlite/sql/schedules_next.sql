-- schedules_next: when the next tick after now is.
select min(next_tick) from job_schedules where paused_at is null and removed = 0 and next_tick > :now
