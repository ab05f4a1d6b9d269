-- 0007_parents: which job waits for which. A row stays as long as both jobs do, so that a parent's retry finds what its end
-- took along.

create table job_parents (
    parent text collate "C" not null,
    child  text collate "C" not null,
    done   integer not null default 0, -- the child waits for this parent no more
    primary key (parent, child)
) with (fillfactor = 80);

create index job_parents_child on job_parents (child);

alter table job_parents enable row level security;

-- Both are of one tenant. The look into job_queue is itself narrowed to it.
create policy job_parents_tenant on job_parents
    using (exists (select from job_queue as j where j.id = job_parents.child))
    with check (exists (select from job_queue as j where j.id = job_parents.child));
