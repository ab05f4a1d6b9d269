"""How often something may be said or heard: a few at once after a rest, then one in a while."""

from __future__ import annotations

GATHER, LONGEST_GATHER = 0.02, 1.0  # seconds in which the commits of a burst become one message
GATHER_PER_DELAY = 50.0
AT_ONCE = 5  # messages that need not wait for others, after a rest


class Pace:
    """How long to gather after a send.

    Sends that take longer than they can say that many tell at once: of the same queues, mostly, so that any of them
    wakes whoever rests. Then each tells less often. One slow send is an accident, two in a row are a crowd.
    """

    def __init__(self) -> None:
        self._best = self._last = float("inf")
        self._credit, self._credited = float(AT_ONCE), 0.0

    def next_one(self, now: float, gather: float) -> float:
        """When the next message may go, after one at this time: one per `gather` in the long run."""
        self._credit = min(float(AT_ONCE), self._credit + (now - self._credited) / gather) - 1
        self._credited = now
        return now + gather * max(0.0, 1 - self._credit)

    def after(self, took: float) -> float:
        """Seconds until the next message, by how long the last one took."""
        self._best = min(self._best, took)
        slow, self._last = min(took, self._last), took
        return min(LONGEST_GATHER, max(GATHER, GATHER_PER_DELAY * (slow - self._best)))
