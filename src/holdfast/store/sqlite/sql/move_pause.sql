-- move_pause: stop claims from every queue that has jobs or workers, beside those that a person paused.
insert into job_pauses (scope, name, paused_at, paused_by)
select 'queue', busy.queue, :now, :by from (
    select queue from job_queue where status = 'queued'
    union
    select json_extract(lane.value, '$[0]') from job_workers join json_each(job_workers.lanes) as lane
) as busy
where true -- or SQLite would read the next word as part of a join
on conflict do nothing
