-- parents_block: hold new jobs back until their parents have completed.
update job_queue as j set
    blocked = (tied ->> 1)::integer, on_parent = tied ->> 2,
    held = j.held | case when (tied ->> 1)::integer > 0 then :bit else 0 end
from json_array_elements(:jobs::json) as tied
where j.id = tied ->> 0
