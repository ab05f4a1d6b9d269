-- schema_applied: record a migration in the transaction that applies it.
insert into holdfast_schema (version, name, applied_at) values (:version, :name, :now::timestamptz)
