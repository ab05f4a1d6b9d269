"""Upkeep tasks, all of one shape: a name, an interval, and `run_once`, which answers what it did as counts.

Any number of processes may run them; each act is guarded in the store. Those marked `leader_only` are left to one
process at a time, which saves work and is never needed for safety.
"""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from holdfast.model.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction

log = logging.getLogger("holdfast.upkeep")

LEAD_MS = 30_000


class Task(Protocol):
    """One thing that is done again and again."""

    name: str
    leader_only: bool

    @property
    def interval(self) -> float:
        """Seconds until its next turn."""

    def run_once(self) -> dict[str, int]:
        """Do it; answers what was done as counts."""


class Upkeep:
    """The tasks of one process, each at its time."""

    def __init__(self, desk: Desk, owner: str, tasks: Sequence[Task]) -> None:
        self._desk = desk
        self._owner = owner
        self._due = {task.name: (0.0, task) for task in tasks}
        self._lead_until = 0.0

    @property
    def next_at(self) -> float:
        """When the next task is due, on the monotonic clock."""
        return min((at for at, _ in self._due.values()), default=monotonic() + 60)

    def run_due(self) -> dict[str, dict[str, int]]:
        """Run what is due now; answers the counts of each task that did something."""
        done = {}
        for name, (at, task) in list(self._due.items()):
            if monotonic() < at:
                continue
            self._due[name] = (monotonic() + task.interval, task)
            if task.leader_only and not self.leads():
                continue
            counts = self._run(task)
            self._due[name] = (monotonic() + task.interval, task)  # it may have learnt when to come again
            if any(counts.values()):
                done[name] = counts
                log.info("%s: %s", name, counts)
        return done

    def _run(self, task: Task) -> dict[str, int]:
        try:
            return task.run_once()
        except StoreError:  # away: whoever runs us knows what to do
            raise
        except Exception:
            log.exception("%s failed; it is tried again at its next turn", task.name)
            return {}

    def leads(self) -> bool:
        """Whether this process leads; asked of the store at most every few seconds."""
        now = monotonic()
        if now >= self._lead_until and self._desk.write(_lead, self._owner):
            self._lead_until = now + LEAD_MS / 3000
        return now < self._lead_until

    def goodbye(self) -> None:
        """Let another process lead, and say that this one is gone."""
        self._desk.write(_resign, self._owner)


def _lead(tx: Transaction, owner: str) -> bool:
    return tx.lead(owner, LEAD_MS)


def _resign(tx: Transaction, owner: str) -> None:
    tx.resign(owner)
    tx.forget(workers_ms=10**12, figures_ms=10**12, worker=owner)
