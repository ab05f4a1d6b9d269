-- 0004_newest: newest wins. Of the jobs with one coalesce key at most one waits and one runs; the last number given for a
-- key outlives its jobs.

create unique index job_queue_newest_waiting on job_queue (tenant, type, coalesce_key)
    where coalesce_key is not null and (status = 'queued' or status = 'awaiting_auth');
create unique index job_queue_newest_running on job_queue (tenant, type, coalesce_key)
    where coalesce_key is not null and status = 'in_progress';

create table job_sequences (
    tenant       text        not null,
    type         text        not null,
    coalesce_key text        not null,
    sequence     bigint      not null,
    job_id       text        not null,
    discarded    bigint      not null default 0, -- requests that came too late
    used_at      timestamptz not null,
    primary key (tenant, type, coalesce_key)
);

create index job_sequences_used on job_sequences (used_at);

alter table job_sequences enable row level security;

create policy job_sequences_tenant on job_sequences
    using (tenant = nullif(current_setting('holdfast.tenant', true), ''))
    with check (tenant = nullif(current_setting('holdfast.tenant', true), ''));
