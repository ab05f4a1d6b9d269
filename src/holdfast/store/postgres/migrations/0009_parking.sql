-- 0009_parking: jobs that wait for a person are found by when that ends; a coalesce key remembers how its last job ended,
-- when that is gone; and who hears of the ends of which jobs.

create index job_queue_parked on job_queue (auth_until, id) where status = 'awaiting_auth';

alter table job_sequences add column ended text; -- the status its job had when it was deleted

create table job_subscriptions (
    name         text collate "C" not null primary key,
    endpoint     text        not null, -- its address and secrets are known to the workers, never stored
    tenant       text collate "C",     -- null: jobs of every tenant
    ends         json        not null, -- [status, ...]
    types        json        not null, -- [] means any
    queues       json        not null,
    groups       json        not null,
    with_result  integer     not null,
    max_attempts integer     not null,
    updated_at   timestamptz not null,
    updated_by   text        not null
);

alter table job_subscriptions enable row level security;

create policy job_subscriptions_tenant on job_subscriptions
    using (tenant is null or tenant = nullif(current_setting('holdfast.tenant', true), ''))
    with check (tenant = nullif(current_setting('holdfast.tenant', true), ''));

-- Every end of a job looks here: workers whose role was set up before must not be shut out until it is set up anew.
do $$
begin
    if exists (select from pg_roles where rolname = 'holdfast_worker') then
        if has_table_privilege('holdfast_worker', 'job_queue', 'update') then
            grant select on job_subscriptions to holdfast_worker, holdfast_tenant;
            create policy job_subscriptions_worker on job_subscriptions to holdfast_worker using (true) with check (true);
        end if;
    end if;
end
$$;
