-- parents_reopen: parents that go round again are waited for anew.
update job_parents as e set done = 0
from job_queue as p
where e.child = any (:ids::text[]) and p.id = e.parent and p.completed_at is null
