-- 0001_jobs: the canonical table job_queue: its seventeen columns first, Holdfast's own behind them; its history and figures;
-- the workers that were heard of; the queues that are paused.

create table job_queue (
    id                  text    not null primary key,
    type                text    not null,
    status              text    not null default 'queued' check (
                            status = 'queued' or status = 'in_progress' or status = 'completed' or status = 'cancelled'
                            or status = 'failed' or status = 'dead_letter' or status = 'awaiting_auth'),
    priority            integer not null default 5 check (priority between 1 and 10),
    scheduled_at        text    not null,
    lease_owner         text,
    lease_until         text,
    payload             text    not null,
    idempotency_key     text,
    attempts            integer not null default 0 check (attempts >= 0),
    max_retries         integer not null default 3 check (max_retries >= 1), -- the most attempts, first one included
    error               text,
    created_at          text    not null,
    updated_at          text    not null,
    started_at          text,
    completed_at        text,
    result              text,

    queue               text    not null default 'default',
    tenant              text    not null default '',
    group_key           text,
    lease_token         integer not null default 0, -- grows at every claim and forced end, never reset
    failed              integer not null default 0,
    crashed             integer not null default 0,
    interrupted         integer not null default 0,
    context             text    not null default '{}',
    payload_version     integer not null default 1,
    coalesce_key        text,
    sequence            integer,
    progress            text,
    cancel_requested_at text,
    held                integer not null default 0, -- not zero: outside the due index, for the reasons in its bits
    timeout_ms          integer,
    key_until           text,                       -- 'active', or the stamp until which the key is kept; null: with the row
    version             integer not null default 1, -- grows at every visible change

    check ((status = 'in_progress') = (lease_owner is not null and lease_until is not null)),
    check ((status = 'completed' or status = 'cancelled' or status = 'failed' or status = 'dead_letter')
        = (completed_at is not null))
) strict, without rowid;

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
    job_id      text    not null,
    line        integer not null,
    at          text    not null,
    from_status text    not null,
    to_status   text    not null,
    why         text    not null,
    attempt     integer not null,
    worker      text,
    error_class text,
    actor       text,
    primary key (job_id, line)
) strict, without rowid;

-- Endings per minute and type, as histograms of a duration: bucket b holds durations around 2^(b/4) milliseconds.
create table job_figures (
    minute  text    not null,
    queue   text    not null,
    type    text    not null,
    status  text    not null,
    measure text    not null check (measure in ('run', 'total')),
    bucket  integer not null,
    count   integer not null,
    primary key (minute, queue, type, status, measure, bucket)
) strict, without rowid;

create table job_workers (
    id         text    not null primary key,
    host       text    not null,
    pid        integer not null,
    started_at text    not null,
    seen_at    text    not null,
    lanes      text    not null, -- JSON: [[queue, type, payload_version], ...]
    places     integer not null,
    running    integer not null
) strict, without rowid;

create table job_pauses (
    scope     text not null check (scope in ('queue')),
    name      text not null,
    paused_at text not null,
    paused_by text not null,
    primary key (scope, name)
) strict, without rowid;

create table job_leader (
    name  text not null primary key,
    owner text not null,
    until text not null
) strict, without rowid;
