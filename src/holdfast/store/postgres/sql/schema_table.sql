-- schema_table: the record of applied migrations.
create table if not exists holdfast_schema (
    version integer not null primary key, name text not null, applied_at timestamptz not null
)
