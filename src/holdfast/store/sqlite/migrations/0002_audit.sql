-- 0002_audit: who deleted which jobs by hand, kept when the jobs and their history are gone. Never a payload.

create table job_audit (
    id     text not null primary key,
    at     text not null,
    actor  text,
    act    text not null,
    tenant text not null,
    queue  text not null,
    type   text not null,
    jobs   text not null -- JSON: [id, ...]
) strict, without rowid;
