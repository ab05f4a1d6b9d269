-- parents_reopen: parents that go round again are waited for anew.
update job_parents set done = 0
from (select value ->> 0 as parent, value ->> 1 as child from json_each(:edges)) as again
where job_parents.parent = again.parent and job_parents.child = again.child
