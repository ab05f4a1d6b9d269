"""A batch: many items for one handler, sealed when it is stored, that ends as one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp
from holdfast.model.errors import BadInput
from holdfast.model.request import NewJob

if TYPE_CHECKING:
    from holdfast.model.job import Job

MOST_ITEMS = 1_000_000
LARGEST_BATCH = 256 * 1024 * 1024  # bytes of all its payloads together: they pass through memory once
LARGEST_CHUNK = 1024 * 1024  # a chunk that grows beyond is closed early, so that none is too large to be run or moved
MOST_AT_ONCE = 100_000  # items of one chunk
DONE, FAILED, OWN, UNRUN = (
    "done",
    "failed",
    "own",
    "unrun",
)  # how an item stands; unrun: its chunk ended before its turn

_FROM_CALLBACK = ("type", "payload", "queue", "priority", "delay", "scheduled_at", "group", "tenant", "max_attempts",
                  "timeout_ms", "context", "payload_version")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBatch:
    """What is stored of a new batch beside its jobs."""

    id: str
    pattern: NewJob  # what its jobs have in common
    total: int
    digest: str  # of its items: two requests with one key must be the same
    key: str | None = None
    callback: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A stored batch. An item that was tried again on its own counts once it has ended."""

    id: str
    tenant: str
    group: str | None
    type: str
    queue: str
    total: int
    done: int
    failed: int
    cancelled: int
    idempotency_key: str | None
    callback_job: str | None
    created_at: str
    ended_at: str | None
    version: int

    @property
    def running(self) -> int:
        """Items that have not ended."""
        return self.total - self.done - self.failed - self.cancelled

    @property
    def percent(self) -> float:
        """How much of it has ended."""
        return 100.0 if not self.total else round(100 * (self.total - self.running) / self.total, 1)

    def as_json(self) -> dict[str, Any]:
        """The public form, the same at every door."""
        return {
            "id": self.id,
            "type": self.type,
            "queue": self.queue,
            "group": self.group,
            "tenant": self.tenant,
            "total": self.total,
            "done": self.done,
            "failed": self.failed,
            "cancelled": self.cancelled,
            "running": self.running,
            "percent": self.percent,
            "idempotency_key": self.idempotency_key,
            "callback_job": self.callback_job,
            "created_at": self.created_at,
            "ended_at": self.ended_at,
            "version": self.version,
        }


@dataclass(frozen=True, slots=True)
class ItemEnd:
    """How one item of a chunk ended: done, failed, or tried again as a job of its own, waiting so long."""

    number: int
    status: str
    result: str | None = None
    error: str | None = None
    payload: str | None = None  # of an own job
    wait_ms: int = 0
    attempts: int = 0
    failed: int = 0
    follow_ups: tuple[NewJob, ...] = ()  # stored with it if it is done


def part_of(job: Job) -> dict[str, Any] | None:
    """Which items of which batch a job runs, from its row alone: numbers from 0. None: it belongs to no batch."""
    if job.batch is None:
        return None
    first, last = job.item, job.item
    match job.payload:
        case {"items": [[int(number), _], *more]} if job.item is None:  # a chunk: its items follow each other
            first, last = number, number + len(more)
    return {"id": job.batch, "first": first, "last": last}


def callback_text(job: NewJob) -> str:
    """A checked request as it is kept until the batch has ended."""
    if job.key is not None or job.coalesce_key is not None or (job.flow is not None and job.flow.depends_on):
        raise BadInput(
            "BAD_OPTION", "a callback runs once, when the batch has ended: it takes no key, coalesce_key or depends_on"
        )
    kept: dict[str, Any] = {name: getattr(job, name) for name in _FROM_CALLBACK}
    return json.dumps(kept | {"limits": None if job.flow is None else job.flow.limits}, ensure_ascii=False)


def callback_of(text: str) -> NewJob:
    """The request that was kept."""
    kept = json.loads(text)
    delay, due, timeout = kept.pop("delay"), kept.pop("scheduled_at"), kept.pop("timeout_ms")
    return NewJob(
        kept.pop("type"),
        kept.pop("payload"),
        delay=None if delay is None else delay / 1000,
        scheduled_at=None if due is None else stamp.to_text(due),
        timeout=None if timeout is None else timeout / 1000,
        **kept,
    )
