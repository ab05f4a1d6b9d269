-- parents_children: those among some jobs that still wait, to be let go or taken along. Locked in one order for all.
select id, on_parent, attempts, key_until from job_queue
where id = any (:ids::text[]) and status = 'queued' order by id for update
