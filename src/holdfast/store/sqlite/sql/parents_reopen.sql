-- parents_reopen: parents that go round again are waited for anew.
update job_parents set done = 0
from job_queue as p
where job_parents.child in (select value from json_each(:ids)) and p.id = job_parents.parent and p.completed_at is null
