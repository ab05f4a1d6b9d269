-- parents_reopen: parents that go round again are waited for anew.
update job_parents as e set done = 0
from json_array_elements(:edges::json) as again
where e.parent = again ->> 0 and e.child = again ->> 1
