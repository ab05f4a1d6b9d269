-- parents_block: hold new jobs back until their parents have completed.
update job_queue set
    blocked = tied.number, on_parent = tied.on_parent, held = held | case when tied.number > 0 then :bit else 0 end
from (select value ->> 0 as id, value ->> 1 as number, value ->> 2 as on_parent from json_each(:jobs)) as tied
where job_queue.id = tied.id
