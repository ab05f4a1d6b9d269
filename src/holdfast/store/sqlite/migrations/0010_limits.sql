-- 0010_limits: how many runs, or starts, a key allows; who stands in line for it, and who holds a unit of it.

create table job_limits (
    name        text    not null primary key,
    concurrency integer check (concurrency >= 0),
    scope       text    not null check (scope in ('cluster', 'host')),
    rate        real    check (rate >= 0), -- starts in per_ms
    per_ms      integer not null check (per_ms > 0),
    burst       real    check (burst >= 1),
    queues      text,                      -- JSON: [queue, ...]: all jobs of these queues count against it
    weights     text,                      -- JSON: {tenant: weight}: these queues are shared fairly
    code        text,                      -- JSON: what the application says; the columns above hold what is in force
    removed     integer not null default 0 check (removed in (0, 1)), -- by a person, although the code has it
    updated_at  text    not null,
    updated_by  text    not null
) strict, without rowid;

-- A key's starts so far, as the instant (milliseconds) at which they would be worked off at its rate.
create table job_lanes (
    key           text not null primary key,
    tat           real not null,
    blocked_until real not null default 0
) strict, without rowid;

-- Who holds a unit of a key. Without an owner: admitted, and not yet claimed.
create table job_units (
    key    text not null,
    job_id text not null,
    since  text not null,
    owner  text,
    until  text, -- set where the run was ended by others: its handler may still go on
    primary key (key, job_id)
) strict, without rowid;

create index job_units_job on job_units (job_id);
create index job_units_idle on job_units (since) where owner is null;
create index job_units_share on job_units (key) where owner is null;
create index job_units_until on job_units (until) where until is not null;

-- Something has changed for a key: look at its line at that time.
create table job_looks (
    at  text not null,
    key text not null,
    primary key (at, key)
) strict, without rowid;

-- The line of a key, best first. A job that is held for another reason stands in none.
create index job_queue_lane on job_queue (lane, priority, scheduled_at, id)
    where status = 'queued' and lane is not null and (held = 32 or held = 33);
