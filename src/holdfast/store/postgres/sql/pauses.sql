-- pauses: the paused queues, since when and by whom.
select name, paused_at, paused_by from job_pauses where scope = 'queue' order by name
