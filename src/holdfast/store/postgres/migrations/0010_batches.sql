-- 0010_batches: batches, how many of their items have ended, and how each did. Items are written as they end.

create table job_batches (
    id              text collate "C" not null primary key,
    tenant          text        not null,
    group_key       text,
    type            text        not null,
    queue           text        not null,
    total           integer     not null,
    done            integer     not null default 0,
    failed          integer     not null default 0,
    callback        json,                 -- the job to enqueue when the last item has ended
    callback_job    text collate "C",     -- the one that it became
    idempotency_key text,
    digest          text        not null, -- of the items: the same key with others is refused
    created_at      timestamptz not null,
    ended_at        timestamptz,
    version         integer     not null default 1,

    check (done >= 0 and failed >= 0 and done + failed <= total)
) with (fillfactor = 50);

create unique index job_batches_key on job_batches (tenant, idempotency_key) where idempotency_key is not null;
create index job_batches_ended on job_batches (ended_at) where ended_at is not null;

create table job_items (
    batch  text collate "C" not null,
    number integer not null,
    job_id text collate "C" not null, -- the chunk it ended in, or its own
    status text    not null check (status in ('done', 'failed', 'own', 'unrun')),
    result json,
    error  text,
    primary key (batch, number)
);

create index job_queue_batch on job_queue (batch, item) where batch is not null;

alter table job_batches enable row level security;
alter table job_items enable row level security;

create policy job_batches_tenant on job_batches
    using (tenant = nullif(current_setting('holdfast.tenant', true), ''))
    with check (tenant = nullif(current_setting('holdfast.tenant', true), ''));

-- The look into job_batches is itself narrowed to the tenant.
create policy job_items_tenant on job_items
    using (exists (select from job_batches as b where b.id = job_items.batch))
    with check (exists (select from job_batches as b where b.id = job_items.batch));
