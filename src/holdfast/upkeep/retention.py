"""Deletes ended jobs that are old, a small batch at a time, and folds the log back when there is quiet."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.engine import repairs
from holdfast.upkeep.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction

BATCHES = 20
WINDOW = 500


class Retention(Turn):
    """Goes through the table from its oldest job on, and begins anew where no job can be old enough.

    That is known by the time in a job's id. Once a day it goes on to the end, because a clock may have been wrong.
    """

    name = "retention"
    leader_only = True
    interval = 60.0
    slack = 30.0

    def __init__(self, desk: Desk, keep_ms: Mapping[str, int] | None = None, *, window: int = WINDOW) -> None:
        self._desk = desk
        self._keep_ms = keep_ms
        self._window = window
        self._after = ""
        self._whole = True
        self._whole_at = 0.0

    def turn(self, tx: Transaction) -> tuple[int, str | None]:
        """Delete some; answers how many, and where to go on."""
        tx.forget(workers_ms=3_600_000, figures_ms=7 * repairs.DAY_MS, audit_ms=90 * repairs.DAY_MS)
        return self._sweep(tx)

    def conclude(self, answer: tuple[int, str | None]) -> dict[str, int]:
        """Go on with some more, each time in a transaction of its own; answers how many."""
        deleted, after = answer
        batches = 1
        while True:
            self._after = after or ""
            if after is None:
                self._begin_anew()
            if after is None or batches == BATCHES:
                return {"deleted": deleted}
            count, after = self._desk.write(self._sweep)
            deleted += count
            batches += 1

    def _sweep(self, tx: Transaction) -> tuple[int, str | None]:
        return repairs.sweep_ended(tx, self._keep_ms, after=self._after, window=self._window, whole=self._whole)

    def _begin_anew(self) -> None:
        now = monotonic()
        if self._whole:
            self._whole_at = now + repairs.DAY_MS / 1000
        self._whole = now >= self._whole_at


class Heartbeat:
    """Says that this worker lives and what it draws from, so that `explain` and `workers` can tell."""

    name = "heartbeat"
    leader_only = False
    interval = 30.0

    def __init__(self, desk: Desk, worker: Any) -> None:
        self._desk = desk
        self._worker = worker

    def run_once(self) -> dict[str, int]:
        """Write the line."""
        self._desk.write(self.beat)
        return {}

    def beat(self, tx: Transaction) -> None:
        """The same, in a transaction that is open."""
        tx.beat(self._worker())
