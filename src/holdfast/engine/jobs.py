"""The verbs for everyone: enqueue, look, cancel, retry, and deal with dead letters."""

from __future__ import annotations

from holdfast.engine.asking import enqueue as enqueue  # noqa: PLC0414  # one of the verbs, kept where it is light
from holdfast.model.errors import BadInput, Conflict, NotFound
from holdfast.model.request import shown
from holdfast.model.status import TERMINAL, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.model.job import Job
    from holdfast.model.lease import Claim
    from holdfast.model.request import NewJob
    from holdfast.store.port import Transaction

MOST_LISTED = 1_000
MOST_RELATIVES = 100
_LAST_ID = "~"  # sorts behind every id
MODES = ("immediate", "graceful", "full")
CANCELLED = '{"class":"Cancelled","message":"stopped on request","code":"CANCELLED"}'


def follow(tx: Transaction, jobs: Sequence[NewJob], claim: Claim) -> list[tuple[str, str]]:
    """Store what a run asks for at once; for each its id and what was done."""
    return tx.follow(jobs, claim.started_at)


def get(tx: Transaction, job_id: str, tenant: str | None = None) -> Job:
    """The job as it is now."""
    if not isinstance(job_id, str):
        raise BadInput("BAD_OPTION", f"a job's id is text, such as handle.id, not {shown(job_id)}")
    sane = job_id.isascii() and job_id.isprintable()  # every id is; other text may not even be storable
    job = tx.get(job_id, tenant) if sane else None
    if job is None:
        raise NotFound("JOB_NOT_FOUND", f"no job {job_id[:50]!a}: it never was, or retention has taken it")
    return job


def get_with_family(tx: Transaction, job_id: str, tenant: str | None = None) -> tuple[Job, dict[str, Any]]:
    """The job, the first hundred of its `parents` and `children`, and its part of a `batch`: each where it has any."""
    from holdfast.model.batch import part_of  # noqa: PLC0415  # heavier than a cold hook can afford

    job = get(tx, job_id, tenant)
    family: dict[str, Any] = {
        "parents": [parent._asdict() for parent in tx.parents(job_id, MOST_RELATIVES)],
        "children": [child._asdict() for child in tx.children(job_id, MOST_RELATIVES)] if job.children else [],
        "batch": part_of(job),
    }
    return job, {name: found for name, found in family.items() if found}


def list_jobs(
    tx: Transaction, /, *, before: str | None = None, limit: int = 50, **where: str | None
) -> tuple[list[Job], str | None]:
    """The newest jobs that match, and the cursor to go on from (None at the end)."""
    if type(limit) is not int or not 1 <= limit <= MOST_LISTED:
        raise BadInput("BAD_OPTION", f"limit is a whole number from 1 to {MOST_LISTED}, not {shown(limit)}")
    _check_filters(before=before, **where)
    status = where.get("status")
    if status is not None and status not in set(Status):
        raise BadInput("BAD_OPTION", f"{status[:50]!a} is no status; there are: {', '.join(Status)}")
    return tx.list_jobs(where, before or _LAST_ID, limit)


def cancel(
    tx: Transaction,
    job_id: str,
    *,
    mode: str = "immediate",
    tenant: str | None = None,
    actor: str | None = None,
) -> dict[str, Any]:
    """Stop a job. `graceful` lets a run that has begun complete; `immediate` ends it now and refuses what it sends.

    `full` is the same as `immediate`, for a caller who then waits for the handler: see `engine/cancels.py`.
    """
    if mode not in MODES:
        raise BadInput("BAD_OPTION", f"mode is immediate, graceful or full, not {mode!r:.50}")
    job = get(tx, job_id, tenant)
    left = tx.cancel(job_id, tenant=tenant, graceful=mode == "graceful", error=CANCELLED)
    if left is not None:
        tx.note(job_id, from_status=left, why="cancel", attempt=job.attempts, actor=actor)
    after = get(tx, job_id, tenant)
    return {"id": job_id, "changed": left is not None, "left": left, "status": after.status.value}


def retry(tx: Transaction, job_id: str, *, tenant: str | None = None, actor: str | None = None) -> Job:
    """Send a failed or dead-lettered job round again, its counters at zero."""
    job = get(tx, job_id, tenant)
    newer = tx.newer(job_id)
    if newer is not None:
        raise Conflict(
            "SUPERSEDED", f"job {job_id} was overtaken: job {newer} is the newest of its coalesce key; look at that one"
        )
    if not tx.retry(job_id, tenant):
        advice = "enqueue it anew instead" if job.ended else "it has not ended: cancel it, or let it go on"
        raise Conflict(
            "WRONG_STATUS",
            f"job {job_id} is {job.status.value}; only failed and dead_letter jobs are retried: {advice}",
        )
    tx.note(job_id, from_status=job.status.value, why="retry by a person", attempt=job.attempts, actor=actor)
    return get(tx, job_id, tenant)


def history(tx: Transaction, job_id: str, tenant: str | None = None) -> list[dict[str, Any]]:
    """What happened to the job that its row cannot tell, oldest first."""
    get(tx, job_id, tenant)
    return tx.history(job_id)


def dead_letters(
    tx: Transaction,
    *,
    status: str = "dead_letter",
    before: str | None = None,
    limit: int = 50,
    type: str | None = None,
    tenant: str | None = None,
) -> list[Job]:
    """The newest jobs that ended badly."""
    _check_filters(before=before, type=type, tenant=tenant)
    return tx.attention(status, before or _LAST_ID, limit, {"type": type, "tenant": tenant})


def retry_dead(tx: Transaction, /, *, actor: str | None = None, limit: int = 500, **where: str | None) -> int:
    """Send a batch of dead letters round again; answers how many. Call until it answers 0."""
    sent, before, more = 0, None, True
    while more and sent < limit:
        found = dead_letters(tx, before=before, limit=limit - sent, **where)  # type: ignore[arg-type]
        more = len(found) == limit - sent
        sent += retry_those(tx, found, tenant=where.get("tenant"), actor=actor)
        before = found[-1].id if found else None
    return sent


def retry_those(tx: Transaction, found: Sequence[Job], *, tenant: str | None = None, actor: str | None = None) -> int:
    """Send these dead letters round again, but for those that were overtaken; answers how many."""
    sent = 0
    for job in found:
        if tx.newer(job.id) is None:  # what was overtaken stays; its successor may have been sent a moment ago
            retry(tx, job.id, tenant=tenant, actor=actor)
            sent += 1
    return sent


def purge_dead(tx: Transaction, /, *, actor: str | None = None, limit: int = 500, **where: str | None) -> int:
    """Delete a batch of dead letters for good; answers how many. Call until it answers 0."""
    return delete(tx, dead_letters(tx, limit=limit, **where), actor=actor)  # type: ignore[arg-type]


def purge(tx: Transaction, job_id: str, *, tenant: str | None = None, actor: str | None = None) -> None:
    """Delete one ended job for good."""
    job = get(tx, job_id, tenant)
    if job.status not in TERMINAL or not delete(tx, [job], actor=actor):
        refuse_while_awaited(tx, job)
        raise Conflict(
            "WRONG_STATUS",
            f"job {job_id} is {job.status.value}: only ended jobs can be deleted; cancel it first",
        )


def refuse_while_awaited(tx: Transaction, job: Job) -> None:
    """Raise if children of an ended job have not ended, which spares it."""
    waiting = [child.id for child in tx.children(job.id, 1) if child.status not in TERMINAL] if job.ended else []
    if waiting:
        raise Conflict(
            "CHILDREN_WAIT",
            f"job {job.id} has children that have not ended, job {waiting[0]} for one: cancel them first, or let them "
            "end",
        )


def delete(tx: Transaction, ended: Sequence[Job], *, actor: str | None) -> int:
    """Delete jobs that still are as they were seen, and write down who did it; answers how many."""
    gone = [job for job in ended if tx.purge(job.id, job.status.value)]
    tx.audit("purge", gone, actor)
    return len(gone)


def audit(
    tx: Transaction, *, before: str | None = None, limit: int = 50, tenant: str | None = None
) -> list[dict[str, Any]]:
    """Who deleted which jobs by hand, newest first; kept for 90 days."""
    _check_filters(before=before, tenant=tenant)
    return tx.audited(before=before or _LAST_ID, limit=limit, tenant=tenant)


def _check_filters(**where: object) -> None:
    """Text that no store can hold matches nothing, and would be an error of the database: it is one of the caller."""
    for name, value in where.items():
        if value is not None and not isinstance(value, str):
            raise BadInput("BAD_OPTION", f"{name} is text, not {shown(value)}")
        if value is not None and ("\0" in value or not _is_text(value)):
            raise BadInput("BAD_OPTION", f"{name} holds what is no text, such as a zero byte: leave it out")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half a character, as undecodable bytes become
        return False
    return True
