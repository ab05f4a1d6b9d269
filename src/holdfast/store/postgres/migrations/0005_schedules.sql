-- 0005_schedules: which jobs are made again and again, when, and up to which tick that was done.

create table job_schedules (
    name       text collate "C" not null primary key,
    type       text collate "C" not null,
    payload    json        not null,
    options    json        not null, -- what the jobs are enqueued with
    cron       text,
    every_ms   bigint      check (every_ms >= 1000),
    tz         text        not null,
    catch_up   text        not null check (catch_up in ('last', 'none', 'all')),
    overlap    text        not null check (overlap in ('skip', 'allow')),
    code       json,                 -- what the application says; the columns above hold what is in force
    source     text        not null check (source in ('code', 'runtime')),
    paused_at  timestamptz,
    paused_by  text,
    removed    integer     not null default 0 check (removed in (0, 1)), -- by a person, although the code has it
    last_tick  timestamptz,
    next_tick  timestamptz,
    last_job   text collate "C",
    fired      bigint      not null default 0,
    skipped    bigint      not null default 0, -- because the job before had not ended
    missed     bigint      not null default 0, -- because nobody was there, and the policy does not catch them up
    note       text        not null default '',
    updated_at timestamptz not null,
    updated_by text        not null,
    version    integer     not null default 1,

    check ((cron is null) <> (every_ms is null)),
    check ((paused_at is null) = (paused_by is null))
) with (fillfactor = 50);
