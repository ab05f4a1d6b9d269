"""What the commands ask beyond the engine's own verbs: plain reads, and page-wise work on dead letters.

Each is a function of an open transaction, to be put on the desk like the engine's.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.engine import jobs
from holdfast.engine.figures import statistics
from holdfast.model.errors import Conflict
from holdfast.model.status import Status
from holdfast.store.port import ALIVE_MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.model.job import Job
    from holdfast.store.port import Transaction

PAGE = 200
RATE_WINDOW_MS = 5 * 60_000


class Page(NamedTuple):
    """What was done to one page of dead letters, and where the next begins; None at the end."""

    done: int
    before: str | None


def dated(tx: Transaction, verb: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[int, Any]:
    """A verb's answer with the store's own instant: ages are told by its clock."""
    return tx.now, verb(tx, *args, **kwargs)


def running(tx: Transaction, limit: int) -> list[Job]:
    """The runs in progress, the longest first."""
    claims = sorted(tx.held_by(""), key=lambda claim: claim.started_at)[:limit]  # every owner's name begins with ""
    return [job for job in (tx.get(claim.id) for claim in claims) if job is not None]


def rates(tx: Transaction) -> dict[tuple[str, str], float]:
    """Completed jobs a minute by (queue, type), over the last minutes."""
    since = (tx.now - RATE_WINDOW_MS) // 60_000 * 60_000  # figures are kept by whole minutes
    counts: Counter[tuple[str, str]] = Counter()
    for queue, kind, status, measure, _, number in tx.figures(since):
        if measure == "run" and status == Status.COMPLETED:
            counts[queue, kind] += number
    return {lane: number * 60_000 / (tx.now - since) for lane, number in counts.items()}


def unknown_lanes(tx: Transaction) -> list[tuple[str, str, int, int]]:
    """Where jobs wait that no live worker knows: queue, type, payload version, how many (counted up to a cap)."""
    known = {tuple(lane) for worker in tx.workers(tx.now - ALIVE_MS) for lane in worker["lanes"]}
    waiting = tx.overview(jobs.MOST_LISTED)["waiting"]
    return [(queue, kind, version, depth) for queue, kind, version, depth, _ in waiting
            if (queue, kind, version) not in known]  # fmt: skip


def queue_is_known(tx: Transaction, queue: str) -> bool:
    """Whether a queue holds jobs, held some in the last hour, or a live worker draws from it."""
    lanes = (lane for worker in tx.workers(tx.now - ALIVE_MS) for lane in worker["lanes"])
    return any(line["queue"] == queue for line in statistics(tx)["lines"]) or any(lane[0] == queue for lane in lanes)


def taken(tx: Transaction) -> set[tuple[str, str]]:
    """What live workers take: queue and type."""
    return {(queue, kind) for worker in tx.workers(tx.now - ALIVE_MS) for queue, kind, _ in worker["lanes"]}


def retry_page(tx: Transaction, before: str | None, *, actor: str, **where: str | None) -> Page:
    """Send one page of dead letters round again. The cursor only falls, so one that dies anew is not met twice."""
    found = jobs.dead_letters(tx, before=before, limit=PAGE, **where)  # type: ignore[arg-type]
    return _page(found, jobs.retry_those(tx, found, actor=actor))


def purge_page(tx: Transaction, before: str | None, *, actor: str, **where: str | None) -> Page:
    """Delete one page of dead letters for good."""
    found = jobs.dead_letters(tx, before=before, limit=PAGE, **where)  # type: ignore[arg-type]
    return _page(found, jobs.delete(tx, found, actor=actor))


def purge_dead_letter(tx: Transaction, job_id: str, tenant: str | None = None, *, actor: str) -> None:
    """Delete one dead letter for good; a job of any other status is refused."""
    job = jobs.get(tx, job_id, tenant)
    if job.status is not Status.DEAD_LETTER or not jobs.delete(tx, [job], actor=actor):
        jobs.refuse_while_awaited(tx, job)
        raise Conflict("WRONG_STATUS", f"job {job_id} is {job.status.value}: only dead letters are purged here")


def dead_count(tx: Transaction, cap: int, kind: str | None = None, status: str = Status.DEAD_LETTER) -> int:
    """How many dead letters there are, or jobs of another bad end, counted up to a cap."""
    return sum(
        number for _, name, ended, number in tx.overview(cap)["dead"]
        if ended == status and kind in (None, name)
    )  # fmt: skip


def _page(found: list[Job], done: int) -> Page:
    return Page(done, found[-1].id if len(found) == PAGE else None)
