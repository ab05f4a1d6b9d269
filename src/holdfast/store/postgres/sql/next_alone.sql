-- next_alone: when the next job comes due that must run in a process of its own.
select min(scheduled_at) from job_queue where status = 'queued' and held = 1 and scheduled_at > :now::timestamptz
