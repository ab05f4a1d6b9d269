"""Why is this job not running? One answer, for every door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.engine.jobs import get
from holdfast.engine.over_limit import Reason, over_limit
from holdfast.engine.takers import nobody_takes
from holdfast.model import stamp
from holdfast.model.held import ALONE, BEHIND, BLOCKED, GROUP_PAUSED, LIMITED, TENANT_PAUSED
from holdfast.model.job import raised_at, raised_from
from holdfast.model.schedule import origin_of
from holdfast.model.status import Status
from holdfast.store.port import ALIVE_MS

if TYPE_CHECKING:
    from holdfast.model.job import Job
    from holdfast.store.port import Transaction

BEGUN_MS = 2_500  # a claim older than this has begun, or was handed back
HELD_UP_MS = 5_000  # a worker with a free place takes a job that is due within a second or two
CAP = 100_000
PARENTS_NAMED = 5
_LONGEST_MESSAGE = 500


def explain(tx: Transaction, job_id: str, tenant: str | None = None) -> dict[str, Any]:
    """The job's status and every reason why it does not run now, the most decisive first."""
    job = get(tx, job_id, tenant)
    match job.status:
        case Status.QUEUED:
            reasons = _waiting(tx, job)
        case Status.IN_PROGRESS:
            reasons = [_running(tx, job)]
        case Status.AWAITING_AUTH:
            reasons = [_parked(tx, job)]
        case _:
            reasons = [_ended(job)]
    reasons += _origin(job) + _part(job)
    return {
        "id": job.id,
        "status": job.status.value,
        "reasons": [{"code": reason.code, "text": reason.text} for reason in reasons],
    }


def _waiting(tx: Transaction, job: Job) -> list[Reason]:
    reasons = []
    due = stamp.from_datetime(job.scheduled_at)
    if due > tx.now:
        after = f", after runs: {job.failed} failed, {job.crashed} crashed" if job.failed or job.crashed else ""
        last = f"; the last one: {job.error['class']}: {job.error['message']}"[:_LONGEST_MESSAGE] if job.error else ""
        reasons.append(Reason("NOT_DUE", f"due in {_span(due - tx.now)}{after}{last}"))
    paused = [row for row in tx.overview(1)["paused"] if row[0] == job.queue]
    reasons += [Reason("PAUSED", f"queue {name!r} was paused by {by} at {since}") for name, since, by in paused]
    reasons += _parents(tx, job)
    reasons += _paused(tx, job)
    if job.held & BEHIND:
        reasons.append(Reason("BEHIND", "a job with the same coalesce key runs: this one begins when that has ended"))
    if job.held & ALONE:
        reasons.append(Reason("ALONE", "a process it ran in died: it runs next in a process of its own"))
    if job.held & LIMITED:
        reasons += over_limit(tx, job, in_line=due <= tx.now)
    reasons += nobody_takes(tx, job)
    if not reasons:
        ahead = tx.ahead(job, CAP)
        many = f"{CAP}+ jobs" if ahead >= CAP else _many(ahead, "job")
        reasons.append(Reason("IN_LINE", f"due; before it in line: {many} of its type and priority"))
        reasons += _held_up(tx, job, max(due, stamp.from_datetime(job.updated_at)))
    return reasons


def _held_up(tx: Transaction, job: Job, since: int) -> list[Reason]:
    """What its workers run, where they have begun nothing for a while although it waits.

    Whether their places are taken or their loop stands still is not stored: only they know.
    """
    lane = (job.queue, job.type, job.payload_version)
    takers = {one["id"] for one in tx.workers(tx.now - ALIVE_MS) if lane in map(tuple, one["lanes"])}
    holds = sorted((hold for hold in tx.held("") if hold.owner.partition("/")[0] in takers), key=lambda one: one.since)
    if not holds or max(since, holds[-1].since) > tx.now - HELD_UP_MS:
        return []
    first = tx.get(holds[0].id)
    named = f" {first.id} ({first.type})" if first is not None and first.tenant == job.tenant else ""
    return [
        Reason(
            "HELD_UP",
            f"the workers that take it have begun nothing for {_span(tx.now - holds[-1].since)}, and run "
            f"{_many(len(holds), 'job')}, the longest{named} for {_span(tx.now - holds[0].since)}: all their places "
            "are taken, or a coroutine handler blocks its event loop, which the log of the worker then says: make "
            'that a plain function, or give it isolation="process"',
        )
    ]


def _parents(tx: Transaction, job: Job) -> list[Reason]:
    if not job.held & BLOCKED:
        return []
    waits = [parent for parent in tx.parents(job.id, PARENTS_NAMED) if parent.waits]
    named = ", ".join(f"job {parent.id} ({parent.status})" for parent in waits)
    more = job.blocked - len(waits)
    return [Reason("BLOCKED", f"waits for {named}{f' and {more} more' if more > 0 else ''}")]


def _paused(tx: Transaction, job: Job) -> list[Reason]:
    """Who holds its group, or its tenant."""
    scopes = [("group", str(job.group), GROUP_PAUSED), ("tenant", job.tenant, TENANT_PAUSED)]
    wanted = [(scope, name) for scope, name, bit in scopes if job.held & bit]
    known = {(one["scope"], one["name"]): one for one in tx.pauses() if one["tenant"] == job.tenant} if wanted else {}
    return [
        Reason("PAUSED", f"{scope} {name!r} was paused by {by['by']} at {by['since']}")
        if (by := known.get((scope, name)))
        else Reason("PAUSED", f"{scope} {name!r} was paused, and is no more: resume it once again")
        for scope, name in wanted
    ]


def _running(tx: Transaction, job: Job) -> Reason:
    assert job.lease_until is not None, "the table's own check keeps leases on running jobs"
    left = stamp.from_datetime(job.lease_until) - tx.now
    if left < 0:
        return Reason(
            "LEASE_EXPIRED",
            f"{job.lease_owner} stopped renewing {_span(-left)} ago; the watchdog ends this run",
        )
    if job.cancel_requested_at is not None:
        return Reason("STOPPING", f"a cancel was asked for; {job.lease_owner} may still complete it")
    assert job.started_at is not None, "a claim writes it"
    since = tx.now - stamp.from_datetime(job.started_at)
    if since < BEGUN_MS and not job.progress:
        return Reason(
            "CLAIMED",
            f"claimed {_span(since)} ago by {job.lease_owner}: it runs, or begins at once; a claim that has not begun "
            f"is handed back after {BEGUN_MS / 1000:g} s",
        )
    return Reason(
        "RUNNING",
        f"attempt {job.attempts} of {job.max_attempts} runs at {job.lease_owner}, lease for {_span(left)}",
    )


def _parked(tx: Transaction, job: Job) -> Reason:
    asked = job.auth or {}
    what = asked.get("reason") or "a person must act first"
    where = f" at {asked['url']}" if asked.get("url") else ""
    under = f", as all that wait for key {job.auth_key!r}" if job.auth_key else ""
    left = 0 if job.auth_until is None else stamp.from_datetime(job.auth_until) - tx.now
    until = f"; after {_span(max(left, 0))} more it ends dead_letter" if job.auth_until else ""
    return Reason("AWAITING_AUTH", f"{what}{where}{under}; then `holdfast job resume {job.id}`{until}")


def _ended(job: Job) -> Reason:
    runs = (
        f"{_many(job.attempts, 'attempt')}: {job.failed} failed, {job.crashed} crashed, {job.interrupted} interrupted"
    )
    error = "" if job.error is None else f"; {job.error['class']} ({job.error['code']}): {_cut(job.error['message'])}"
    error += f"; raised at {' < '.join(lines)}" if (lines := raised_at(job.error)) else ""
    error += _cut(raised_from(job.error))
    advice = ""
    if job.status in (Status.FAILED, Status.DEAD_LETTER):
        advice = f"; when the cause is gone: `holdfast job retry {job.id}`"
    return Reason("ENDED", f"{job.status.value} after {runs}{error}{advice}")


def _origin(job: Job) -> list[Reason]:
    origin = origin_of(job.idempotency_key)
    if origin is None:
        return []
    what = "by hand" if origin.tick is None else f"for its tick of {stamp.to_text(origin.tick)}"
    return [Reason("SCHEDULED", f"made by schedule {origin.name!r}, {what}")]


def _part(job: Job) -> list[Reason]:
    if job.batch is None:
        return []
    what = f"item {job.item}" if job.item is not None else "a chunk"
    return [Reason("IN_BATCH", f"{what} of batch {job.batch}: `holdfast batch show {job.batch}` tells how far that is")]


def _cut(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 1] + "…"


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _span(ms: int) -> str:
    seconds = ms / 1000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{ms} ms"
