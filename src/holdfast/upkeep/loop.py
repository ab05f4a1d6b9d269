"""Upkeep tasks, all of one shape: a name, an interval, and `run_once`, which answers what it did as counts. Those whose
work is one transaction share it, so that a worker with nothing to do asks its store once in half a minute.

Any number of processes may run them; each act is guarded in the store. Those marked `leader_only` are left to one
process at a time, which saves work and is never needed for safety.
"""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.model.errors import StoreError
from holdfast.signals.message import EVERYTHING
from holdfast.upkeep.ticker import Ticker
from holdfast.upkeep.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.engine.desk import Desk
    from holdfast.model.news import News
    from holdfast.store.port import Transaction

log = logging.getLogger("holdfast.upkeep")

LEAD_MS = 90_000  # renewed by the leader's turns, which may be a minute apart
SOON = 1.0  # what is due within so many seconds goes along


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
        self._hurried = 0.0

    @property
    def next_at(self) -> float:
        """When the next task is due, on the monotonic clock."""
        return min((at + _slack(task) for at, task in self._due.values()), default=monotonic() + 60)

    def hear(self, news: News) -> None:
        """What another process told. Schedules may have changed: look at them soon, once a second at most."""
        if EVERYTHING not in news.queues:
            return
        for at, task in list(self._due.values()):
            if isinstance(task, Ticker):
                task.hurry()
                self._hurried = max(monotonic(), self._hurried + SOON)
                self._due[task.name] = (min(at, self._hurried), task)

    def run_due(self) -> dict[str, dict[str, int]]:
        """Run what is due now; answers the counts of each task that did something."""
        done = {task.name: self._run(task, task.run_once) for task in self._due_now() if self._may(task)}
        now = monotonic()
        if any(now >= at + task.slack for at, task in self._turns()):
            done |= self._take_turns([task for at, task in self._turns() if now + SOON >= at])
        return {name: counts for name, counts in done.items() if any(counts.values())}

    def _due_now(self) -> list[Task]:
        return [task for at, task in self._due.values() if not _shares(task) and monotonic() >= at]

    def _turns(self) -> list[tuple[float, Turn]]:
        return [(at, task) for at, task in self._due.values() if isinstance(task, Turn) and task.shares]

    def _may(self, task: Task) -> bool:
        self._put_off(task)
        return not task.leader_only or self.leads()

    def _put_off(self, task: Task) -> None:
        self._due[task.name] = (monotonic() + task.interval, task)

    def _take_turns(self, tasks: list[Turn]) -> dict[str, dict[str, int]]:
        """All of them in one transaction. One that fails takes no other along."""
        for task in tasks:
            self._put_off(task)
        leading = any(task.leader_only for task in tasks) and monotonic() >= self._lead_until
        first = [self._lead] if leading else []
        answers = self._desk.write_all([*first, *map(self._turn_of, tasks)])
        done = {}
        for task, answer in zip(tasks, answers[len(first) :], strict=True):
            if answer is not None:
                done[task.name] = self._run(task, lambda task=task, answer=answer: _concluded(task, answer))  # type: ignore[misc]
        return done

    def _turn_of(self, task: Turn) -> Callable[[Transaction], Any]:
        return lambda tx: None if task.leader_only and monotonic() >= self._lead_until else task.turn(tx)

    def _run(self, task: Task, act: Callable[[], dict[str, int]]) -> dict[str, int]:
        try:
            counts = act()
        except StoreError:  # away: whoever runs us knows what to do
            raise
        except Exception:
            log.exception("%s failed; it is tried again at its next turn", task.name)
            return {}
        self._put_off(task)  # it may have learnt when to come again
        if any(counts.values()):
            log.info("%s: %s", task.name, counts)
        return counts

    def leads(self) -> bool:
        """Whether this process leads; asked of the store at most every few seconds."""
        if monotonic() >= self._lead_until:
            self._desk.write(self._lead)
        return monotonic() < self._lead_until

    def _lead(self, tx: Transaction) -> None:
        if tx.lead(self._owner, LEAD_MS):
            self._lead_until = monotonic() + LEAD_MS / 3000

    def goodbye(self) -> None:
        """Let another process lead, and say that this one is gone."""
        self._desk.write(_resign, self._owner)


def _shares(task: Task) -> bool:
    return isinstance(task, Turn) and task.shares


def _slack(task: Task) -> float:
    return task.slack if isinstance(task, Turn) and task.shares else 0.0


def _concluded(task: Turn, answer: Any) -> dict[str, int]:
    if isinstance(answer, BaseException):
        raise answer
    return task.conclude(answer)


def _resign(tx: Transaction, owner: str) -> None:
    tx.resign(owner)
    tx.forget(workers_ms=10**12, figures_ms=10**12, audit_ms=10**13, worker=owner)
