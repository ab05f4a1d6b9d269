-- parents_count: so many more jobs were made to wait for these.
update job_queue as j set children = j.children + (more ->> 1)::integer
from json_array_elements(:counts::json) as more
where j.id = more ->> 0
