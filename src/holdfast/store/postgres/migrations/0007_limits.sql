-- 0007_limits: how many runs, or starts, a key allows; who stands in line for it, and who holds a unit of it.

create table job_limits (
    name        text collate "C"  not null primary key,
    concurrency integer           check (concurrency >= 0),
    scope       text              not null check (scope in ('cluster', 'host')),
    rate        double precision  check (rate >= 0), -- starts in per_ms
    per_ms      bigint            not null check (per_ms > 0),
    burst       double precision  check (burst >= 1),
    queues      json,                                -- [queue, ...]: all jobs of these queues count against it
    weights     json,                                -- {tenant: weight}: these queues are shared fairly
    code        json,                                -- what the application says; the columns above hold what is in force
    removed     integer           not null default 0 check (removed in (0, 1)), -- by a person, although the code has it
    updated_at  timestamptz       not null,
    updated_by  text              not null
);

-- A key's starts so far, as the instant (milliseconds) at which they would be worked off at its rate.
create table job_lanes (
    key           text collate "C" not null primary key,
    tat           double precision not null,
    blocked_until double precision not null default 0
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Who holds a unit of a key. Without an owner: admitted, and not yet claimed.
create table job_units (
    key    text collate "C" not null,
    job_id text collate "C" not null,
    since  timestamptz      not null,
    owner  text collate "C",
    until  timestamptz, -- set where the run was ended by others: its handler may still go on
    primary key (key, job_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create index job_units_job on job_units (job_id);
create index job_units_idle on job_units (since) where owner is null;
create index job_units_until on job_units (until) where until is not null;

-- Something has changed for a key: look at its line at that time. Only ever added to by those who enqueue and finish, so
-- nobody waits for anybody.
create table job_looks (
    at  timestamptz      not null,
    key text collate "C" not null,
    id  bigint           not null generated always as identity,
    primary key (at, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The line of a key, best first. A job that is held for another reason stands in none.
create index job_queue_lane on job_queue (lane, priority, scheduled_at, id)
    where status = 'queued' and lane is not null and (held = 32 or held = 33);

-- Tenants hold units of their own jobs.
alter table job_units enable row level security;

create policy job_units_tenant on job_units
    using (exists (select from job_queue as j where j.id = job_units.job_id))
    with check (exists (select from job_queue as j where j.id = job_units.job_id));
