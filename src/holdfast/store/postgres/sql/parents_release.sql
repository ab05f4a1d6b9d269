-- parents_release: so many fewer parents to wait for. Who waits for none is due from now on, unless something else holds it.
update job_queue as j set
    blocked = j.blocked - (less ->> 1)::integer,
    held = case when j.blocked > (less ->> 1)::integer then j.held else j.held & ~:bit::integer end,
    scheduled_at = case
        when j.blocked > (less ->> 1)::integer then j.scheduled_at else greatest(j.scheduled_at, :now::timestamptz) end,
    updated_at = :now::timestamptz, version = j.version + 1
from json_array_elements(:counts::json) as less
where j.id = less ->> 0 and j.status = 'queued'
returning j.id, j.queue, j.held & :bit::integer
