-- 0008_groups: pauses of a group and of a tenant beside those of a queue; cancels of groups, for what their runs still
-- enqueue; and the runs that were cancelled while a handler was at work, until it has stopped.

alter table job_pauses
    add column tenant text collate "C" not null default '',
    drop constraint job_pauses_scope_check,
    add constraint job_pauses_scope_check check (scope in ('queue', 'group', 'tenant')),
    drop constraint job_pauses_pkey,
    add primary key (scope, tenant, name);

-- A tenant sees which queues are paused, and of the rest only what is its own.
alter table job_pauses enable row level security;
create policy job_pauses_tenant on job_pauses for select
    using (scope = 'queue' or tenant = nullif(current_setting('holdfast.tenant', true), ''));

create table job_cancels (
    tenant       text collate "C" not null,
    group_key    text collate "C" not null,
    id           text collate "C" not null,
    at           timestamptz not null,
    types        json, -- [type, ...]; null: all
    mode         text        not null check (mode in ('graceful', 'immediate', 'full')),
    cancelled_by text,
    primary key (tenant, group_key, id)
);

alter table job_cancels enable row level security;
create policy job_cancels_tenant on job_cancels
    using (tenant = nullif(current_setting('holdfast.tenant', true), ''))
    with check (tenant = nullif(current_setting('holdfast.tenant', true), ''));

create table job_stopping (
    job_id  text collate "C" not null,
    token   integer     not null,
    until   timestamptz not null, -- the end of its lease: by then whoever held it has stopped, or is dead
    primary key (job_id, token)
);

-- The look into job_queue is itself narrowed to the tenant.
alter table job_stopping enable row level security;
create policy job_stopping_tenant on job_stopping
    using (exists (select from job_queue as j where j.id = job_stopping.job_id))
    with check (exists (select from job_queue as j where j.id = job_stopping.job_id));

-- The bits of `held` for a job of this tenant and group. Whoever stores a job, or sends one round again, asks in the same
-- statement and so keeps pauses of that tenant and group from beginning or ending until its transaction ends: the pause
-- then finds the job, or the job the pause. The look comes after the lock and, because the function is volatile, has a
-- snapshot of its own. There are 64 locks, so that a transaction with many groups does not fill the server's table.
create function holdfast_held(whose text, of_group text) returns integer language plpgsql volatile as $$
declare
    bits integer := 0;
begin
    if whose <> '' then
        perform pg_advisory_xact_lock_shared(4745, (hashtextextended(whose, 0) & 63)::integer);
        if exists (select from job_pauses where scope = 'tenant' and tenant = whose and name = whose) then
            bits := 16;
        end if;
    end if;
    if of_group is not null then
        perform pg_advisory_xact_lock_shared(4745, (hashtextextended(whose || chr(31) || of_group, 0) & 63)::integer);
        if exists (select from job_pauses where scope = 'group' and tenant = whose and name = of_group) then
            bits := bits + 8;
        end if;
    end if;
    return bits;
end
$$;
