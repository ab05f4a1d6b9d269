-- in_limits: a limit, as another store had it.
insert into job_limits (name, concurrency, scope, rate, per_ms, burst, queues, weights, code, removed, updated_at, updated_by)
values (:name, :concurrency, :scope, :rate, :per_ms, :burst, :queues, :weights, :code, :removed, :updated_at, :updated_by)
