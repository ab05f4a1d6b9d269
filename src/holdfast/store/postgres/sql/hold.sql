-- hold: take jobs out of the due index; one that runs is held when it comes back. In the order of ids, as by others who
-- change many.
update job_queue as j set held = j.held | :bit::integer
from (
    select id from job_queue
    where id = any (:ids::text[]) and completed_at is null
    order by id for update
) as open
where j.id = open.id
