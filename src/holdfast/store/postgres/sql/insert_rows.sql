-- insert_rows: store many jobs on a caller's own connection, those with a taken key left out. The rows come as one JSON
-- text, which every driver can send and which leaves no temporary table in the caller's session. Order as in insert_many.
with given as materialized (
    select * from json_to_recordset(:rows::json) as rows (
        id text, type text, priority integer, scheduled_at timestamptz, payload text, key text, max_attempts integer,
        queue text, tenant text, "group" text, context text, payload_version integer, timeout_ms bigint, key_until text
    )
),
paused as materialized (
    select tenant, "group", holdfast_held(tenant, "group") as held
    from (select distinct tenant, "group" from given where tenant <> '' or "group" is not null) as scopes
)
insert into job_queue (
    id, type, priority, scheduled_at, payload, idempotency_key, max_retries, created_at, updated_at,
    queue, tenant, group_key, context, payload_version, timeout_ms, key_until, held
)
select
    id, type, priority, scheduled_at, payload::json, key, max_attempts, :now::timestamptz, :now::timestamptz,
    queue, tenant, "group", context::json, payload_version, timeout_ms, key_until,
    coalesce((select p.held from paused as p where p.tenant = g.tenant and p."group" is not distinct from g."group"), 0)
from given as g
order by tenant collate "C", key collate "C" nulls first, id collate "C"
on conflict (tenant, idempotency_key) where idempotency_key is not null do nothing
returning id
