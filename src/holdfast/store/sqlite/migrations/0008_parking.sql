-- 0008_parking: jobs that wait for a person are found by when that ends; a coalesce key remembers how its last job ended,
-- when that is gone; and who hears of the ends of which jobs.

create index job_queue_parked on job_queue (auth_until, id) where status = 'awaiting_auth';

-- the status its job had when it was deleted
alter table job_sequences add column ended text;

create table job_subscriptions (
    name         text    not null primary key,
    endpoint     text    not null, -- its address and secrets are known to the workers, never stored
    tenant       text,             -- null: jobs of every tenant
    ends         text    not null, -- [status, ...]
    types        text    not null, -- [] means any
    queues       text    not null,
    groups       text    not null,
    with_result  integer not null,
    max_attempts integer not null,
    updated_at   text    not null,
    updated_by   text    not null
) strict, without rowid;
