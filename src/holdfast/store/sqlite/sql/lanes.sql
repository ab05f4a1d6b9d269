-- lanes: the lines that hold waiting jobs, best priority first, found by one index probe for each.
with recursive wanted (queue, type, payload_version) as (
    select value ->> 0, value ->> 1, value ->> 2 from json_each(:lanes)
    where value ->> 0 not in (select name from job_pauses where scope = 'queue')
),
lane (queue, type, payload_version, priority) as (
    select w.queue, w.type, w.payload_version, (
        select min(j.priority) from job_queue j
        where j.status = 'queued' and j.held = 0
            and j.queue = w.queue and j.type = w.type and j.payload_version = w.payload_version
    )
    from wanted w
    union all
    select l.queue, l.type, l.payload_version, (
        select min(j.priority) from job_queue j
        where j.status = 'queued' and j.held = 0
            and j.queue = l.queue and j.type = l.type and j.payload_version = l.payload_version
            and j.priority > l.priority
    )
    from lane l where l.priority is not null
)
select priority, queue, type, payload_version from lane where priority is not null order by priority
