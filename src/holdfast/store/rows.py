"""From a row of either store to a Job. The column `max_retries` becomes `max_attempts` here and nowhere else."""

from __future__ import annotations

from typing import Any

from holdfast.model import stamp
from holdfast.model.job import Job, loads
from holdfast.model.status import Status


def job_of(row: tuple[Any, ...]) -> Job:
    """The job of a row in the order that `get` and `list` select."""
    (
        job_id, kind, status, queue, group, tenant, priority, attempts, max_attempts, failed, crashed, interrupted,
        scheduled_at, created_at, updated_at, started_at, completed_at, payload, result, error, progress, context,
        key, payload_version, timeout_ms, owner, until, token, held, cancel_requested_at, version,
    ) = row  # fmt: skip
    return Job(
        id=job_id,
        type=kind,
        status=Status(status),
        queue=queue,
        group=group,
        tenant=tenant,
        priority=priority,
        attempts=attempts,
        max_attempts=max_attempts,
        failed=failed,
        crashed=crashed,
        interrupted=interrupted,
        scheduled_at=_moment(scheduled_at),
        created_at=_moment(created_at),
        updated_at=_moment(updated_at),
        started_at=_moment(started_at),
        completed_at=_moment(completed_at),
        payload=loads(payload),
        result=loads(result),
        error=loads(error),
        progress=loads(progress),
        context=loads(context),
        idempotency_key=key,
        payload_version=payload_version,
        timeout_ms=timeout_ms,
        lease_owner=owner,
        lease_until=_moment(until),
        lease_token=token,
        held=held,
        cancel_requested_at=_moment(cancel_requested_at),
        version=version,
    )


def _moment(text: str | None) -> Any:
    return None if text is None else stamp.to_datetime(stamp.from_text(text))
