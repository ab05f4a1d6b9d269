-- out_limits: every limit, in the order of the names.
select name, concurrency, scope, rate, per_ms, burst, queues, weights, code, removed, updated_at, updated_by from job_limits
order by name
