-- 0003_audit: who deleted which jobs by hand, kept when the jobs and their history are gone. Never a payload.

create table job_audit (
    id     text collate "C" not null primary key,
    at     timestamptz not null,
    actor  text,
    act    text        not null,
    tenant text collate "C" not null,
    queue  text collate "C" not null,
    type   text collate "C" not null,
    jobs   json        not null -- [id, ...]
);

alter table job_audit enable row level security;

create policy job_audit_tenant on job_audit
    using (tenant = nullif(current_setting('holdfast.tenant', true), ''))
    with check (tenant = nullif(current_setting('holdfast.tenant', true), ''));
