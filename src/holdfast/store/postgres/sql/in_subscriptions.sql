-- in_subscriptions: subscriptions as another store had them, in bulk.
copy job_subscriptions (
    name, endpoint, tenant, ends, types, queues, groups, with_result, max_attempts, updated_at, updated_by
) from stdin
