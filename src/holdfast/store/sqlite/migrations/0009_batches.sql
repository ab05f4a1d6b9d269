-- 0009_batches: batches, how many of their items have ended, and how each did. Items are written as they end.

create table job_batches (
    id              text    not null primary key,
    tenant          text    not null,
    group_key       text,
    type            text    not null,
    queue           text    not null,
    total           integer not null,
    done            integer not null default 0,
    failed          integer not null default 0,
    callback        text,    -- JSON: the job to enqueue when the last item has ended
    callback_job    text,    -- the one that it became
    idempotency_key text,
    digest          text    not null, -- of the items: the same key with others is refused
    created_at      text    not null,
    ended_at        text,
    version         integer not null default 1,

    check (done >= 0 and failed >= 0 and done + failed <= total)
) without rowid;

create unique index job_batches_key on job_batches (tenant, idempotency_key) where idempotency_key is not null;
create index job_batches_ended on job_batches (ended_at) where ended_at is not null;

create table job_items (
    batch  text    not null,
    number integer not null,
    job_id text    not null, -- the chunk it ended in, or its own
    status text    not null check (status in ('done', 'failed', 'own', 'unrun')),
    result text,
    error  text,
    primary key (batch, number)
) without rowid;

create index job_queue_batch on job_queue (batch, item) where batch is not null;
