-- parents_release: so many fewer parents to wait for; tells who waits for none now. Those are due from now on, unless
-- something else holds them: before that nothing of them is to be seen.
update job_queue as j set
    blocked = j.blocked - less.number,
    held = case when j.blocked > less.number then j.held else j.held & ~:bit::integer end,
    scheduled_at = case
        when j.blocked > less.number then j.scheduled_at else greatest(j.scheduled_at, :now::timestamptz) end,
    updated_at = case when j.blocked > less.number then j.updated_at else :now::timestamptz end,
    version = j.version + case when j.blocked > less.number then 0 else 1 end
from (select one ->> 0 as id, (one ->> 1)::integer as number from json_array_elements(:counts::json) as one) as less
where j.id = less.id and j.status = 'queued'
returning j.id, j.queue, j.held & :bit::integer
