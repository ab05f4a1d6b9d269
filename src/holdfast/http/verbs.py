"""Reads and writes this door puts together from the store's promises: each a function of an open transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import Any

from holdfast.engine import jobs
from holdfast.engine.figures import statistics
from holdfast.engine.queues import COUNTS, workers
from holdfast.model.batch import part_of
from holdfast.model.job import Job
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.model.waiting import held_back
from holdfast.store.port import Hold, Transaction

SUMMARY_FIELDS = (
    "id", "type", "status", "queue", "group", "tenant", "priority", "attempts", "max_attempts", "failed", "crashed",
    "interrupted", "scheduled_at", "created_at", "updated_at", "started_at", "completed_at", "error", "progress",
    "version", "auth",
)  # fmt: skip
_SHOWN_RUNNING, _SHOWN_RECENT = 20, 25


def enqueue_and_look(
    tx: Transaction, new: Sequence[NewJob], max_depth: Mapping[str, int] | None = None
) -> list[dict[str, Any]]:
    """Store new jobs, all or none; for each its id, its status and what was done."""
    answers = jobs.enqueue(tx, new, max_depth)
    older = tx.versions([job_id for job_id, outcome in answers if outcome != "created"])
    return [
        {
            "id": job_id,
            "status": Status.QUEUED.value if outcome == "created" else older[job_id][1],
            "created": outcome == "created",
            "outcome": outcome,
        }
        for job_id, outcome in answers
    ]


def retry_dead(tx: Transaction, limit: int, type: str | None, tenant: str | None, *, actor: str) -> int:
    """Send a batch of dead letters round again."""
    return jobs.retry_dead(tx, actor=actor, limit=limit, type=type, tenant=tenant)


def purge_dead(tx: Transaction, limit: int, type: str | None, tenant: str | None, *, actor: str) -> int:
    """Delete a batch of dead letters for good."""
    return jobs.purge_dead(tx, actor=actor, limit=limit, type=type, tenant=tenant)


def figures(tx: Transaction) -> dict[str, Any]:
    """The engine's figures and their totals. A total that reached the cap is at least that."""
    seen = statistics(tx)
    totals = {name: sum(line[name] for line in seen["lines"]) for name in COUNTS}
    return seen | {"totals": totals}


def picture(tx: Transaction) -> dict[str, Any]:
    """All that the overview page shows, read at one instant; no payloads and no results."""
    seen = figures(tx)
    del seen["at"]  # two pictures of an unchanged house are equal
    recent, _ = jobs.list_jobs(tx, limit=_SHOWN_RECENT)
    holds = tx.held("")  # every owner's name begins with ""
    return seen | {
        "paused": [{"name": name} | state for name, state in _paused(tx, seen["paused"]).items()],
        "running": [summary(job) for job in _running(tx, holds)],
        "recent": [summary(job) for job in recent],
        "workers": workers(tx, holds=holds),
    }


def summary(job: Job) -> dict[str, Any]:
    """The job without what may be large or private."""
    whole = job.as_json()
    return {name: whole[name] for name in SUMMARY_FIELDS} | {"held_back": held_back(job), "batch": part_of(job)}


def _running(tx: Transaction, holds: Sequence[Hold]) -> list[Job]:
    """The runs that have taken longest."""
    longest = nsmallest(_SHOWN_RUNNING, holds, key=lambda hold: (hold.since, hold.id))
    found = (tx.get(hold.id) for hold in longest)
    return [job for job in found if job is not None]


def _paused(tx: Transaction, names: list[str]) -> dict[str, dict[str, str]]:
    if not names:
        return {}  # most houses: no need to look a second time
    return {name: {"since": since, "by": by} for name, since, by in tx.overview(1)["paused"]}
