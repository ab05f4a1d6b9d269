-- limit_set: store a limit, or change one.
insert into job_limits (
    name, concurrency, scope, rate, per_ms, burst, queues, weights, code, removed, updated_at, updated_by
) values (
    :name, :concurrency::integer, :scope, :rate::double precision, :per_ms, :burst::double precision, :queues::json, :weights::json, :code::json, :removed, :now::timestamptz, :by
) on conflict (name) do update set
    concurrency = excluded.concurrency, scope = excluded.scope, rate = excluded.rate, per_ms = excluded.per_ms,
    burst = excluded.burst, queues = excluded.queues, weights = excluded.weights, code = excluded.code,
    removed = excluded.removed, updated_at = excluded.updated_at, updated_by = excluded.updated_by
