"""Re-enqueues domain rows whose job was lost.

An application registers a function that finds rows which should have a job and have none (`@app.sweeper`). It runs as a
job, because only workers have the application imported; this task sees to it that one such job exists per tick in the
whole cluster, by its idempotency key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.engine.asking import enqueue
from holdfast.model.request import NewJob
from holdfast.upkeep.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction


class Sweeper(Turn):
    """Enqueues the sweeps that are due: pairs of (type, queue, every so many milliseconds)."""

    name = "sweeper"
    leader_only = True

    def __init__(self, desk: Desk, sweeps: Sequence[tuple[str, str, int]]) -> None:
        self._desk = desk
        self._sweeps = sweeps
        self.interval = min((every / 2000 for *_, every in sweeps), default=3_600.0)

    @property
    def slack(self) -> float:
        """A part of the interval, which is half a tick."""
        return self.interval / 4

    def turn(self, tx: Transaction) -> int:
        """One job for each sweep and tick; answers how many were new."""
        return _enqueue_sweeps(tx, self._sweeps) if self._sweeps else 0

    def conclude(self, answer: int) -> dict[str, int]:
        """How many were new."""
        return {"enqueued": answer}


def _enqueue_sweeps(tx: Transaction, sweeps: Sequence[tuple[str, str, int]]) -> int:
    jobs = [
        NewJob(kind, "{}", queue=queue, max_attempts=1, key=f"{kind}/{tx.now // every}", key_window=2 * every / 1000)
        for kind, queue, every in sweeps
    ]
    return sum(outcome == "created" for _, outcome in enqueue(tx, jobs))
