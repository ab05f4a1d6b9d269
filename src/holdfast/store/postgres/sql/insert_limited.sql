-- insert_limited: store jobs of which some stand in line for limits, those with a taken key left out. Held, too, if their
-- group or their tenant is paused.
insert into job_queue (
    id, type, priority, scheduled_at, payload, idempotency_key, max_retries, created_at, updated_at,
    queue, tenant, group_key, context, payload_version, timeout_ms, key_until, limits, lane, held
)
select
    id, type, priority, scheduled_at, payload::json, key, max_attempts, :now::timestamptz, :now::timestamptz,
    queue, tenant, "group", context::json, payload_version, timeout_ms, key_until,
    limits, limits ->> 0,
    case when limits is null then 0 else 32 end
    | case when "group" is null and tenant = '' then 0 else holdfast_held(tenant, "group") end
from json_to_recordset(:rows::json) as rows (
    id text, type text, priority integer, scheduled_at timestamptz, payload text, key text, max_attempts integer,
    queue text, tenant text, "group" text, context text, payload_version integer, timeout_ms bigint, key_until text,
    limits json
)
order by tenant collate "C", key collate "C" nulls first, id collate "C"
on conflict (tenant, idempotency_key) where idempotency_key is not null do nothing
returning id
