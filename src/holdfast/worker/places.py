"""Places: how many jobs of some lanes a process runs at once, and how many it may hold ready behind them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.lease import Claim, Lane

LONGEST_WAIT = 0.25  # seconds a job held ready may be expected to wait
MOST_READY = 1300
_PATIENCE = 1.0  # seconds after which a job held ready is handed back, at most
_MEMORY = 0.1  # weight of the newest duration in the average


class Places:
    """One pool of places for some lanes."""

    each = 1  # jobs that one call of a handler takes

    __slots__ = ("_duration", "lanes", "lease_ms", "patience", "places", "prefetch", "ready", "running", "sibling")

    def __init__(self, lanes: Sequence[Lane], places: int, lease_ms: int, *, prefetch: int = MOST_READY) -> None:
        self.lanes = tuple(lanes)
        self.places = places
        self.lease_ms = lease_ms
        self.prefetch = prefetch
        self.patience = min(_PATIENCE, lease_ms / 4000)  # always well below the lease, which nobody renews yet
        self.running = 0
        self.sibling: Places | None = None  # another pool for the same places
        self.ready: deque[tuple[Claim, float]] = deque()  # claimed, waiting for a place, with when they came
        self._duration: float | None = None  # of a run, averaged; None while nothing is known

    @property
    def free(self) -> int:
        """Places that a job could begin in now."""
        return self.places - self.running

    def wanted(self) -> int:
        """How many jobs to claim: one for each free place, and as many more as will begin soon."""
        ahead = self._ahead()
        missing = self.free + ahead - len(self.ready)
        # Few at a time would make many small commits; a free place is always worth one.
        if self.free <= len(self.ready) and missing * 4 <= ahead:
            return 0
        # Half of them at a time: these run while the store is asked for the others.
        return min(missing, max(self.free, (self.places + ahead) // 2))

    def joins(self) -> bool:
        """Whether the next job needs no place of its own."""
        return False

    def ended(self, seconds: float) -> None:
        """A run is over: its place is free, and its duration known."""
        self.running -= 1
        if self._duration is None:
            self._duration = seconds
        else:
            self._duration += _MEMORY * (seconds - self._duration)

    def stale(self, now: float, patience: float) -> list[Claim]:
        """Take back what has been held ready for too long; no more is held until a run has ended."""
        old = []
        while self.ready and now - self.ready[0][1] > patience:
            old.append(self.ready.popleft()[0])
        if old:
            self._duration = None  # else the same jobs would be taken again at once, and nobody else could
        return old

    def _ahead(self) -> int:
        if self._duration is None or not self.prefetch:
            return 0
        begin_within = LONGEST_WAIT * self.places / max(self._duration, 1e-6)
        return min(self.prefetch, int(begin_within))
