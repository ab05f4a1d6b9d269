-- schedule_drop: forget a schedule; its jobs stay.
delete from job_schedules where name = :name
