-- unhold: let jobs back into the due index, unless something else holds them.
update job_queue as j set held = j.held & ~:bit::integer
from (
    select id from job_queue
    where id = any (:ids::text[]) and completed_at is null
    order by id for update
) as open
where j.id = open.id
