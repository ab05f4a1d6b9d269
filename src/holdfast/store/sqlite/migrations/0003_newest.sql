-- 0003_newest: newest wins. Of the jobs with one coalesce key at most one waits and one runs; the last number given for a
-- key outlives its jobs.

create unique index job_queue_newest_waiting on job_queue (tenant, type, coalesce_key)
    where coalesce_key is not null and (status = 'queued' or status = 'awaiting_auth');
create unique index job_queue_newest_running on job_queue (tenant, type, coalesce_key)
    where coalesce_key is not null and status = 'in_progress';

create table job_sequences (
    tenant       text    not null,
    type         text    not null,
    coalesce_key text    not null,
    sequence     integer not null,
    job_id       text    not null,
    discarded    integer not null default 0, -- requests that came too late
    used_at      text    not null,
    primary key (tenant, type, coalesce_key)
) strict, without rowid;

create index job_sequences_used on job_sequences (used_at);
