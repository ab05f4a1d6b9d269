-- in_subscriptions: a subscription as another store had it.
insert into job_subscriptions (
    name, endpoint, tenant, ends, types, queues, groups, with_result, max_attempts, updated_at, updated_by
) values (
    :name, :endpoint, :tenant, :ends, :types, :queues, :groups, :with_result, :max_attempts, :updated_at, :updated_by
)
