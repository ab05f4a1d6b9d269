-- 0006_parents: which job waits for which. A row stays as long as both jobs do, so that a parent's retry finds what its end
-- took along.

create table job_parents (
    parent text    not null,
    child  text    not null,
    done   integer not null default 0, -- the child waits for this parent no more
    primary key (parent, child)
) without rowid;

create index job_parents_child on job_parents (child);
