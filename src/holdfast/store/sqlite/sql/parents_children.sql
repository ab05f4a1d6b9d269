-- parents_children: those among some jobs that still wait, to be let go or taken along.
select id, on_parent, attempts, key_until from job_queue
where id in (select value from json_each(:ids)) and +status = 'queued' order by id
