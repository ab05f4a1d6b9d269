-- parents_count: so many more jobs were made to wait for these.
update job_queue set children = children + more.number
from (select value ->> 0 as id, value ->> 1 as number from json_each(:counts)) as more
where job_queue.id = more.id
