-- insert_many: store the rows of a bulk insert, those with a taken key left out. Keys come in one order for all callers,
-- or two of them could wait for each other.
with paused as materialized (
    select tenant, group_key, holdfast_held(tenant, group_key) as held
    from (
        select distinct tenant, group_key from pg_temp.holdfast_incoming
        where id >= :first and id <= :last and (tenant <> '' or group_key is not null)
    ) as scopes
)
insert into job_queue (
    id, type, priority, scheduled_at, payload, idempotency_key, max_retries, created_at, updated_at,
    queue, tenant, group_key, context, payload_version, timeout_ms, key_until, held
)
select
    id, type, priority, scheduled_at, payload, idempotency_key, max_retries, :now::timestamptz, :now::timestamptz,
    queue, tenant, group_key, context, payload_version, timeout_ms, key_until,
    coalesce((
        select p.held from paused as p where p.tenant = i.tenant and p.group_key is not distinct from i.group_key
    ), 0)
from pg_temp.holdfast_incoming as i
where id >= :first and id <= :last
order by tenant collate "C", idempotency_key collate "C" nulls first, id collate "C"
on conflict (tenant, idempotency_key) where idempotency_key is not null do nothing
returning id
