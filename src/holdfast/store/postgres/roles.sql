-- roles: who may do what, as plain SQL. Run it after `holdfast migrate`, as an administrator, in the database of the jobs;
-- safe to run again, and needed again after a migration that made a table. The roles cannot log in: make log-ins of your
-- own as members, for example `create role mailer login in role holdfast_worker`.
--
--   holdfast_owner   migrates, promotes: owns the tables, sees all tenants
--   holdfast_worker  enqueues, claims, runs, keeps house for all tenants; cannot change a table
--   holdfast_reader  looks at everything, writes nothing
--   holdfast_tenant  sees and changes the jobs of the tenant that is set, and nothing without one:
--                    postgresql://...?tenant=acme, or `set local holdfast.tenant = 'acme'`
--
-- The tables are taken to lie in the schema public.

do $$
declare
    wanted text;
begin
    foreach wanted in array array['holdfast_owner', 'holdfast_worker', 'holdfast_reader', 'holdfast_tenant'] loop
        begin
            execute format('create role %I nologin', wanted);
        exception when duplicate_object or unique_violation then
            null; -- roles belong to the whole server: another database has made it
        end;
    end loop;
end
$$;

grant usage on schema public to holdfast_owner, holdfast_worker, holdfast_reader, holdfast_tenant;
grant create on schema public to holdfast_owner;

alter table holdfast_schema owner to holdfast_owner;
alter table job_queue owner to holdfast_owner;
alter table job_history owner to holdfast_owner;
alter table job_figures owner to holdfast_owner;
alter table job_workers owner to holdfast_owner;
alter table job_pauses owner to holdfast_owner;
alter table job_leader owner to holdfast_owner;
alter table job_audit owner to holdfast_owner;
alter table job_sequences owner to holdfast_owner;
alter table job_subscriptions owner to holdfast_owner;
alter table job_schedules owner to holdfast_owner;
alter table job_parents owner to holdfast_owner;
alter table job_cancels owner to holdfast_owner;
alter table job_stopping owner to holdfast_owner;
alter function holdfast_held(text, text) owner to holdfast_owner;
alter table job_batches owner to holdfast_owner;
alter table job_items owner to holdfast_owner;
alter table job_limits owner to holdfast_owner;
alter table job_lanes owner to holdfast_owner;
alter table job_units owner to holdfast_owner;
alter table job_looks owner to holdfast_owner;
alter table if exists holdfast_move owner to holdfast_owner;

grant select on holdfast_schema to holdfast_worker, holdfast_reader, holdfast_tenant;

grant select, insert, update, delete
    on job_queue, job_history, job_figures, job_workers, job_pauses, job_leader, job_audit, job_sequences,
    job_schedules, job_parents, job_cancels, job_stopping, job_subscriptions, job_batches, job_items, job_limits,
    job_lanes, job_units, job_looks
    to holdfast_worker;
grant select
    on job_queue, job_history, job_figures, job_workers, job_pauses, job_leader, job_audit, job_sequences,
    job_schedules, job_parents, job_cancels, job_stopping, job_subscriptions, job_batches, job_items, job_limits,
    job_lanes, job_units, job_looks
    to holdfast_reader;

-- Pauses and workers tell a tenant why its job waits. Figures count the jobs of all tenants, and schedules hold
-- payloads of any, so they are not shown.
grant select, insert, update, delete
    on job_queue, job_history, job_sequences, job_parents, job_cancels, job_stopping, job_batches, job_items
    to holdfast_tenant;
grant select on job_workers, job_pauses to holdfast_tenant;
-- What a tenant ends is told to those who asked for it.
grant select on job_subscriptions to holdfast_tenant;
-- A tenant's jobs may have limits: it notes that a line is to be looked at, and gives back what its own jobs hold.
grant select on job_limits, job_lanes to holdfast_tenant;
grant insert on job_looks to holdfast_tenant;
grant select, update, delete on job_units to holdfast_tenant;
-- What a tenant deletes is written down, and stays so.
grant select, insert on job_audit to holdfast_tenant;

-- The policies for tenants came with the tables. These let workers and readers past them; a policy that is always true
-- costs a query nothing.
do $$
declare
    one text;
begin
    foreach one in array array[
        'job_queue', 'job_history', 'job_audit', 'job_parents', 'job_sequences', 'job_subscriptions',
        'job_batches', 'job_items', 'job_pauses', 'job_cancels', 'job_stopping', 'job_units'
    ] loop
        execute format('drop policy if exists %I on %I', one || '_worker', one);
        execute format('create policy %I on %I to holdfast_worker using (true) with check (true)', one || '_worker', one);
        execute format('drop policy if exists %I on %I', one || '_reader', one);
        execute format('create policy %I on %I for select to holdfast_reader using (true)', one || '_reader', one);
    end loop;
end
$$;
