"""The seven statuses of a job, and every move between them."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where a job stands. Stored as text; these are the only values."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    AWAITING_AUTH = "awaiting_auth"
    COMPLETED = "completed"
    FAILED = "failed"
    DEAD_LETTER = "dead_letter"
    CANCELLED = "cancelled"


WAITING = frozenset({Status.QUEUED, Status.AWAITING_AUTH})
TERMINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.DEAD_LETTER, Status.CANCELLED})
RETRYABLE_BY_HAND = frozenset({Status.FAILED, Status.DEAD_LETTER})

MEANINGS: dict[Status, str] = {
    Status.QUEUED: "waiting; due once scheduled_at has passed and nothing holds it",
    Status.IN_PROGRESS: "a worker holds the lease",
    Status.AWAITING_AUTH: "parked until a person acts; holds no lease and no place",
    Status.COMPLETED: "done",
    Status.FAILED: "ended by an error that retrying cannot cure",
    Status.DEAD_LETTER: "attempts exhausted, by errors or by crashes",
    Status.CANCELLED: "stopped on request; a late result or error never overwrites it",
}

# verb -> status reached, for every status a job can leave. The lifecycle page is generated from this table,
# and the generated histories check that the stores make no other move.
MOVES: dict[Status, tuple[tuple[str, Status], ...]] = {
    Status.QUEUED: (
        ("claim", Status.IN_PROGRESS),
        ("cancel", Status.CANCELLED),
        ("a parent ended badly", Status.CANCELLED),
    ),
    Status.IN_PROGRESS: (
        ("finish: returned", Status.COMPLETED),
        ("finish: raised, attempts left", Status.QUEUED),
        ("finish: raised a permanent error", Status.FAILED),
        ("finish: raised, attempts exhausted", Status.DEAD_LETTER),
        ("finish: snoozed", Status.QUEUED),
        ("release", Status.QUEUED),
        ("watchdog: lease expired", Status.QUEUED),
        ("watchdog: attempts or crashes exhausted", Status.DEAD_LETTER),
        ("park", Status.AWAITING_AUTH),
        ("cancel", Status.CANCELLED),
    ),
    Status.AWAITING_AUTH: (
        ("resume", Status.QUEUED),
        ("replaced by a newer request", Status.QUEUED),
        ("cancel", Status.CANCELLED),
        ("expiry", Status.DEAD_LETTER),
    ),
    Status.COMPLETED: (),
    Status.FAILED: (("retry by a person", Status.QUEUED),),
    Status.DEAD_LETTER: (("retry by a person", Status.QUEUED),),
    Status.CANCELLED: (("a parent that took it along is retried", Status.QUEUED),),
}
