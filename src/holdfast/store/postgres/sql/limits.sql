-- limits: every limit by name, those too that a person removed although the code has them.
select name, concurrency, scope, rate, per_ms, burst, queues, weights, code, removed, updated_at, updated_by
from job_limits where :name::text is null or name = :name order by name
