-- server_table: the least table that could hold the jobs on PostgreSQL, as a yardstick.
create table jobs (
    id text collate "C" primary key, type text not null, status text not null, priority smallint not null,
    scheduled_at timestamptz not null, lease_owner text, lease_until timestamptz, payload json not null,
    idempotency_key text, attempts smallint not null, max_retries smallint not null, error text,
    created_at timestamptz not null, updated_at timestamptz not null, started_at timestamptz, completed_at timestamptz,
    result json
);
create index due on jobs (priority, scheduled_at, id) where status = 'queued';
create unique index keys on jobs (idempotency_key) where idempotency_key is not null;
