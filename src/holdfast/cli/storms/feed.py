"""Those who use the queue during the storm: they enqueue, cancel, read results, and keep what was acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.storms.application import LEASE
from holdfast.model.status import Status

if TYPE_CHECKING:
    from random import Random

    from holdfast.app import App
    from holdfast.handle import Handle

_BATCH = 50
_CANCELS = 0.02
_LOOKS = 0.05


class Feed:
    """What was asked of the queue, and what it answered."""

    def __init__(self, app: App, chance: Random, *, slow: float) -> None:
        """`slow` is the share of jobs that run for longer than their lease."""
        self._app = app
        self._slow = slow
        self._chance = chance
        self.enqueued: list[str] = []
        self.cancelled: set[str] = set()
        self.results: dict[str, object] = {}

    def enqueue(self, count: int) -> None:
        """Enqueue so many, some of them in one transaction."""
        while count > 0:
            batch = min(count, self._chance.choice((1, _BATCH)))
            with self._app.transaction():
                handles = [self._enqueue_one() for _ in range(batch)]
            self.enqueued += [handle.id for handle in handles]  # acknowledged: the transaction has committed
            count -= batch

    def meddle(self) -> None:
        """Now and then cancel a job, or read a result."""
        if self.enqueued and self._chance.random() < _CANCELS:
            self._cancel(self._chance.choice(self.enqueued[-200:]))
        if self.enqueued and self._chance.random() < _LOOKS:
            job = self._app.get(self._chance.choice(self.enqueued))
            if job.status is Status.COMPLETED:
                self.results[job.id] = job.result

    def _cancel(self, job_id: str) -> None:
        mode = self._chance.choice(("immediate", "graceful"))
        answer = self._app.cancel(job_id, mode=mode)
        if answer["changed"] and answer["status"] == Status.CANCELLED:
            self.cancelled.add(job_id)

    def _enqueue_one(self) -> Handle:
        chance = self._chance
        seconds = round(LEASE * 1.5 if chance.random() < self._slow else chance.random() * 0.05, 3)
        kind, payload = chance.choices(
            (
                ("brief", {}),
                ("waiting", {"seconds": seconds}),
                ("blocking", {"seconds": seconds}),
                ("alone", {"seconds": seconds / 5}),
                ("reluctant", {"failures": chance.randint(1, 3)}),
                ("walking", {"steps": chance.randint(1, 3)}),
                ("fragile", {}),
                ("hopeless", {}),
            ),
            weights=(40, 20, 15, 1, 10, 5, 5, 4),
        )[0]
        return self._app.enqueue(kind, payload, priority=chance.randint(1, 10))
