-- finish: end runs, but only for the worker that still holds the lease. After a cancel was asked for, only a
-- completed run keeps its ending. Many runs end by few kinds of moves, so these come apart and once each.
-- A lease means `in_progress`, by the table's own check; named by its status the planner would walk the index of leases.
update job_queue as j set
    status = case when j.cancel_requested_at is null or m.status = 'completed' then m.status else 'cancelled' end,
    completed_at = case
        when j.cancel_requested_at is null and m.status in ('queued', 'awaiting_auth') then null else :now::timestamptz end,
    scheduled_at = coalesce(m.scheduled_at, j.scheduled_at),
    result = e.result,
    error = coalesce(m.error, case when m.status = 'completed' then null else j.error end),
    attempts = j.attempts - m.give_back,
    failed = j.failed + m.failed,
    crashed = j.crashed + m.crashed,
    interrupted = j.interrupted + m.interrupted,
    held = (j.held & ~m.free) | m.hold,
    lease_owner = null, lease_until = null,
    lease_token = j.lease_token + :forced,
    updated_at = :now::timestamptz, version = j.version + 1
from
    unnest(:ids::text[], :tokens::integer[], :results::json[], :moves::integer[]) as e (id, token, result, move)
    join unnest(
        :statuses::text[], :due::timestamptz[], :errors::text[], :give_back::integer[], :failed::integer[],
        :crashed::integer[], :interrupted::integer[], :hold::integer[], :free::integer[]
    ) with ordinality as m (
        status, scheduled_at, error, give_back, failed, crashed, interrupted, hold, free, number
    ) on m.number = e.move
where j.id = e.id and j.lease_token = e.token and j.lease_owner is not null and j.lease_until < :expired_before::timestamptz
returning j.id, e.token, j.status, j.children
