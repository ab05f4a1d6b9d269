-- 0004_schedules: which jobs are made again and again, when, and up to which tick that was done.

create table job_schedules (
    name       text    not null primary key,
    type       text    not null,
    payload    text    not null,
    options    text    not null, -- JSON: what the jobs are enqueued with
    cron       text,
    every_ms   integer check (every_ms >= 1000),
    tz         text    not null,
    catch_up   text    not null check (catch_up in ('last', 'none', 'all')),
    overlap    text    not null check (overlap in ('skip', 'allow')),
    code       text,             -- JSON: what the application says; the columns above hold what is in force
    source     text    not null check (source in ('code', 'runtime')),
    paused_at  text,
    paused_by  text,
    removed    integer not null default 0 check (removed in (0, 1)), -- by a person, although the code has it
    last_tick  text,
    next_tick  text,
    last_job   text,
    fired      integer not null default 0,
    skipped    integer not null default 0, -- because the job before had not ended
    missed     integer not null default 0, -- because nobody was there, and the policy does not catch them up
    note       text    not null default '',
    updated_at text    not null,
    updated_by text    not null,
    version    integer not null default 1,

    check ((cron is null) <> (every_ms is null)),
    check ((paused_at is null) = (paused_by is null))
) strict, without rowid;
