-- due_alone: due jobs that must run in a process of their own, the most urgent first; their number is small.
select id from job_queue indexed by job_queue_alone
where status = 'queued' and held = 1 and scheduled_at <= :now
    and (queue, type, payload_version) in (select value ->> 0, value ->> 1, value ->> 2 from json_each(:lanes))
    and queue not in (select name from job_pauses where scope = 'queue')
order by priority, scheduled_at, id
limit :limit
