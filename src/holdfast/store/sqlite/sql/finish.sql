-- finish: end a run, but only for the worker that still holds the lease. After a cancel was asked for, only a
-- completed run keeps its ending.
update job_queue set
    status = case when cancel_requested_at is null or :status = 'completed' then :status else 'cancelled' end,
    completed_at = case when cancel_requested_at is null and :status in ('queued', 'awaiting_auth') then null else :now end,
    scheduled_at = coalesce(:scheduled_at, scheduled_at),
    result = :result,
    error = coalesce(:error, case when :status = 'completed' then null else error end),
    attempts = attempts - :give_back,
    failed = failed + :failed,
    crashed = crashed + :crashed,
    interrupted = interrupted + :interrupted,
    held = (held & ~:free) | :hold,
    lease_owner = null, lease_until = null,
    lease_token = lease_token + :forced,
    updated_at = :now, version = version + 1
where id = :id and lease_token = :token and status = 'in_progress' and lease_until < :expired_before
