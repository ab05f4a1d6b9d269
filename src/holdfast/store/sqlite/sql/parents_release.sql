-- parents_release: so many fewer parents to wait for; tells who waits for none now. Those are due from now on, unless
-- something else holds them: before that nothing of them is to be seen.
update job_queue set
    blocked = blocked - less.number,
    held = case when blocked > less.number then held else held & ~:bit end,
    scheduled_at = case when blocked > less.number then scheduled_at else max(scheduled_at, :now) end,
    updated_at = case when blocked > less.number then updated_at else :now end,
    version = version + (blocked <= less.number)
from (select value ->> 0 as id, value ->> 1 as number from json_each(:counts)) as less
where job_queue.id = less.id and +status = 'queued'
returning job_queue.id, queue, held & :bit
