"""Deletes ended jobs that are old, a small batch at a time, and folds the log back when there is quiet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.engine import repairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction

BATCHES = 20


class Retention:
    """Goes through the table from its oldest job on, and begins anew at the end."""

    name = "retention"
    leader_only = True
    interval = 60.0

    def __init__(self, desk: Desk, keep_ms: Mapping[str, int] | None = None) -> None:
        self._desk = desk
        self._keep_ms = keep_ms
        self._after = ""

    def run_once(self) -> dict[str, int]:
        """Delete some; answers how many."""
        deleted = 0
        for _ in range(BATCHES):
            count, after = self._desk.write(repairs.sweep_ended, self._keep_ms, after=self._after)
            deleted += count
            self._after = after or ""
            if after is None:
                break
        self._desk.write(_forget)
        return {"deleted": deleted}


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


def _forget(tx: Transaction) -> None:
    tx.forget(workers_ms=3_600_000, figures_ms=7 * repairs.DAY_MS)
