-- 0007_groups: pauses of a group and of a tenant beside those of a queue; cancels of groups, for what their runs still
-- enqueue; and the runs that were cancelled while a handler was at work, until it has stopped.

alter table job_pauses rename to job_pauses_before;

create table job_pauses (
    scope     text not null check (scope in ('queue', 'group', 'tenant')),
    tenant    text not null default '',
    name      text not null,
    paused_at text not null,
    paused_by text not null,
    primary key (scope, tenant, name)
) strict, without rowid;

insert into job_pauses (scope, name, paused_at, paused_by)
select scope, name, paused_at, paused_by from job_pauses_before;
drop table job_pauses_before;

create table job_cancels (
    tenant       text not null,
    group_key    text not null,
    id           text not null,
    at           text not null,
    types        text, -- JSON: [type, ...]; null: all
    mode         text not null check (mode in ('graceful', 'immediate', 'full')),
    cancelled_by text,
    primary key (tenant, group_key, id)
) strict, without rowid;

create table job_stopping (
    job_id  text    not null,
    token   integer not null,
    until   text    not null, -- the end of its lease: by then whoever held it has stopped, or is dead
    primary key (job_id, token)
) strict, without rowid;
