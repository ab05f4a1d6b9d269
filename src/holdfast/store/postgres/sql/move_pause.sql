-- move_pause: stop claims from every queue that has jobs or workers, beside those that a person paused.
insert into job_pauses (scope, name, paused_at, paused_by)
select 'queue', busy.queue, :now::timestamptz, :by from (
    select queue from job_queue where status = 'queued'
    union
    select lane.value ->> 0 from job_workers cross join json_array_elements(job_workers.lanes) as lane (value)
) as busy
on conflict do nothing
