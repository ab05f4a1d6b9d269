-- in_limits: limits, as another store had them, in bulk.
copy job_limits (name, concurrency, scope, rate, per_ms, burst, queues, weights, code, removed, updated_at, updated_by) from stdin
