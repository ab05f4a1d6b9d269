-- parents_take: those among some jobs that still would end with their parents.
select id from job_queue
where id in (select value from json_each(:ids)) and +status = 'queued' and on_parent is null
