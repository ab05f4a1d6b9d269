-- subscribe: store a subscription; one of its name is changed.
insert into job_subscriptions (
    name, endpoint, tenant, ends, types, queues, groups, with_result, max_attempts, updated_at, updated_by
) values (
    :name, :endpoint, :tenant, :ends::json, :types::json, :queues::json, :groups::json, :with_result, :max_attempts, :now::timestamptz, :updated_by
)
on conflict (name) do update set
    endpoint = excluded.endpoint, tenant = excluded.tenant, ends = excluded.ends, types = excluded.types,
    queues = excluded.queues, groups = excluded.groups, with_result = excluded.with_result, max_attempts = excluded.max_attempts,
    updated_at = excluded.updated_at, updated_by = excluded.updated_by
