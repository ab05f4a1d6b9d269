-- 0001_jobs: the canonical table job_queue: its seventeen columns first, Holdfast's own behind them; its history and figures;
-- the workers that were heard of; the queues that are paused. Names sort byte by byte, as on SQLite.

create table job_queue (
    id                  text collate "C" not null primary key,
    type                text collate "C" not null,
    status              text collate "C" not null default 'queued' check (
                            status = 'queued' or status = 'in_progress' or status = 'completed' or status = 'cancelled'
                            or status = 'failed' or status = 'dead_letter' or status = 'awaiting_auth'),
    priority            integer     not null default 5 check (priority between 1 and 10),
    scheduled_at        timestamptz not null,
    lease_owner         text collate "C",
    lease_until         timestamptz,
    payload             json        not null, -- not jsonb, which rewrites numbers and refuses some texts
    idempotency_key     text collate "C",
    attempts            integer     not null default 0 check (attempts >= 0),
    max_retries         integer     not null default 3 check (max_retries >= 1), -- the most attempts, first one included
    error               text,
    created_at          timestamptz not null,
    updated_at          timestamptz not null,
    started_at          timestamptz,
    completed_at        timestamptz,
    result              json,

    queue               text collate "C" not null default 'default',
    tenant              text collate "C" not null default '',
    group_key           text collate "C",
    lease_token         integer     not null default 0, -- grows at every claim and forced end, never reset
    failed              integer     not null default 0,
    crashed             integer     not null default 0,
    interrupted         integer     not null default 0,
    context             json        not null default '{}',
    payload_version     integer     not null default 1,
    coalesce_key        text collate "C",
    sequence            bigint,
    progress            json,
    cancel_requested_at timestamptz,
    held                integer     not null default 0, -- not zero: outside the due index, for the reasons in its bits
    timeout_ms          bigint,
    key_until           text collate "C",           -- 'active', or the stamp until which the key is kept; null: with the row
    version             integer     not null default 1, -- grows at every visible change

    check ((status = 'in_progress') = (lease_owner is not null and lease_until is not null)),
    check ((status = 'completed' or status = 'cancelled' or status = 'failed' or status = 'dead_letter')
        = (completed_at is not null))
) with (
    -- Every row is written at least three times. Room on its page keeps its versions together, and vacuum comes by
    -- the number of dead rows, not by a share of the whole table.
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_analyze_threshold = 5000
);

-- Claims read one lane (queue, type, payload version, priority) from its head. What cannot be taken now is either
-- behind `scheduled_at`, in another lane, or not in this index at all.
create index job_queue_due on job_queue (queue, type, payload_version, priority, scheduled_at, id)
    where status = 'queued' and held = 0;

-- Jobs that ran in a process that died wait here for a process of their own (held = 1).
create index job_queue_alone on job_queue (scheduled_at, id) where status = 'queued' and held = 1;

create index job_queue_leases on job_queue (lease_until, id) where status = 'in_progress';

create unique index job_queue_keys on job_queue (tenant, idempotency_key) where idempotency_key is not null;

create index job_queue_groups on job_queue (tenant, group_key, id) where group_key is not null;

-- What a person should look at. Rows that live normally never enter it.
create index job_queue_attention on job_queue (id)
    where status = 'failed' or status = 'dead_letter' or status = 'awaiting_auth';

-- What the row itself cannot tell: retries, crashes, releases, cancels, acts of a person. A job that simply runs
-- leaves no line here.
create table job_history (
    job_id      text collate "C" not null,
    line        integer     not null,
    at          timestamptz not null,
    from_status text        not null,
    to_status   text        not null,
    why         text        not null,
    attempt     integer     not null,
    worker      text,
    error_class text,
    actor       text,
    primary key (job_id, line)
);

-- Endings per minute and type, as histograms of a duration: bucket b holds durations around 2^(b/4) milliseconds.
-- `part` is the counting connection: one row for all would make every worker wait for every other's commit.
create table job_figures (
    minute  timestamptz not null,
    queue   text collate "C" not null,
    type    text collate "C" not null,
    status  text collate "C" not null,
    measure text collate "C" not null check (measure in ('run', 'total')),
    bucket  integer     not null,
    part    integer     not null,
    count   bigint      not null,
    primary key (minute, queue, type, status, measure, bucket, part)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table job_workers (
    id         text collate "C" not null primary key,
    host       text        not null,
    pid        integer     not null,
    started_at timestamptz not null,
    seen_at    timestamptz not null,
    lanes      json        not null, -- [[queue, type, payload_version], ...]
    places     integer     not null,
    running    integer     not null
) with (fillfactor = 50);

create table job_pauses (
    scope     text collate "C" not null check (scope in ('queue')),
    name      text collate "C" not null,
    paused_at timestamptz not null,
    paused_by text        not null,
    primary key (scope, name)
);

create table job_leader (
    name  text collate "C" not null primary key,
    owner text collate "C" not null,
    until timestamptz not null
) with (fillfactor = 50);
