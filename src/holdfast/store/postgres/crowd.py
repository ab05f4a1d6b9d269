"""Whether a new job can wake anybody: not where one that came due before it is still waiting, though it was told of.

Whoever could take it has its hands full then and looks again by itself, so such news has time: under a flood of single
jobs from many processes, as many messages would cost a third of what the server can store. It is only a hint, by which
nothing is left untold.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.model.request import NewJob
    from holdfast.store.postgres.base import Verbs

LOOK = 1.0  # seconds from one look at a lane to the next
BUSY = 0.5  # seconds of that time spent on storing: whose jobs are stored at once asks nothing and tells at once
MOST = 100  # lanes


def stands_behind(job: NewJob, tx: Verbs) -> bool:
    """Whether others of its lane have waited for a while."""
    lane = {name: getattr(job, name) for name in ("queue", "type", "payload_version", "priority")}
    return bool(tx.run("crowd", now=tx.stamp, **lane)[0][0])


class Crowd:
    """The lanes that this process enqueues into."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, str, int, int], _Lane] = {}

    def waited(self, job: NewJob) -> bool:
        """Whether jobs of its lane stood behind others at the last look."""
        found = self._lanes.get(_lane(job))
        return found is not None and found.last

    def waits(self, job: NewJob, took: float, look: Callable[[], bool]) -> bool:
        """Whether the job, which took so long to be stored, stands behind others."""
        lane = _lane(job)
        found = self._lanes.get(lane)
        if found is None:
            if len(self._lanes) >= MOST:
                self._lanes.clear()
            found = self._lanes[lane] = _Lane()
        return found.waits(took, look)


def _lane(job: NewJob) -> tuple[str, str, int, int]:
    return (job.queue, job.type, job.payload_version, job.priority)


class _Lane:
    def __init__(self) -> None:
        self._begun, self._took, self.last = monotonic(), 0.0, False

    def waits(self, took: float, look: Callable[[], bool]) -> bool:
        now = monotonic()
        self._took += took
        if now - self._begun >= LOOK:
            self.last = self._took >= BUSY and look()
            self._begun, self._took = now, 0.0
        return self.last
