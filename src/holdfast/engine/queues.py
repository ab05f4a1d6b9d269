"""The verbs for queues and workers: see them, pause and resume them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from holdfast.engine.figures import statistics
from holdfast.model import stamp
from holdfast.model.request import check_name
from holdfast.store.port import ALIVE_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.store.port import Hold, Transaction

COUNTS = (
    "waiting", "limited", "blocked", "running", "expired", "dead", "failed", "awaiting_auth", "completed_1h",
    "ended_badly_1h",
)  # fmt: skip


def pause(tx: Transaction, name: str, by: str) -> dict[str, Any]:
    """Stop claims from a queue; what runs goes on."""
    return {"name": name, "paused": True, "changed": tx.pause(check_name("queue", name), by)}


def resume(tx: Transaction, name: str) -> dict[str, Any]:
    """Let claims from a queue go on."""
    return {"name": name, "paused": False, "changed": tx.resume(check_name("queue", name))}


def queues(tx: Transaction) -> list[dict[str, Any]]:
    """Every queue that holds something or is paused, its types taken together."""
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in statistics(tx)["lines"]:
        lines[line["queue"]].append(line)
    paused = {name: {"since": since, "by": by} for name, since, by in tx.overview(1)["paused"]}
    return [
        {
            "name": name,
            "paused": paused.get(name),
            **{count: sum(line[count] for line in lines[name]) for count in COUNTS},
            "oldest_s": max((line["oldest_s"] for line in lines[name]), default=0.0),
            "types": [line["type"] for line in lines[name]],
        }
        for name in sorted({*lines, *paused})
    ]


def workers(tx: Transaction, *, silent_too: bool = False, holds: Sequence[Hold] | None = None) -> list[dict[str, Any]]:
    """The workers heard of lately, or all on record; their lanes by name, `alive` tells which are which.

    What each runs is counted by its leases, as everything that runs is: figures of one look agree with each other,
    where what a worker last said of itself may be a minute old. `holds` are all leases, from who has read them.
    """
    alive = tx.now - ALIVE_MS
    running = Counter(hold.owner.partition("/")[0] for hold in (tx.held("") if holds is None else holds))
    return [
        worker
        | {
            "lanes": [{"queue": queue, "type": kind, "version": version} for queue, kind, version in worker["lanes"]],
            "alive": worker["seen_at"] >= stamp.to_text(alive),
            "running": running[worker["id"]],
        }
        for worker in tx.workers(0 if silent_too else alive)
    ]
