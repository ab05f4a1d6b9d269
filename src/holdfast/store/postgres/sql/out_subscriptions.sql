-- out_subscriptions: every subscription, in the order of its name.
select
    name, endpoint, tenant, ends, types, queues, groups, with_result, max_attempts, updated_at, updated_by
from job_subscriptions order by name
