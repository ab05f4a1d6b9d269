-- bare_table: the least table that could hold the jobs, as a yardstick.
create table jobs (
    id text not null primary key, type text not null, status text not null, priority integer not null,
    scheduled_at text not null, lease_owner text, lease_until text, payload text not null, idempotency_key text,
    attempts integer not null, max_retries integer not null, error text, created_at text not null,
    updated_at text not null, started_at text, completed_at text, result text
) without rowid;
create index due on jobs (priority, scheduled_at, id) where status = 'queued';
create unique index keys on jobs (idempotency_key) where idempotency_key is not null;
