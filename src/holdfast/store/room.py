"""What is known of a key while it is decided who may leave its line."""

from __future__ import annotations

import json
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from holdfast.model.limit import Limit

FINEST_MS = 20  # between two looks at a rate
_NO_LIMIT = 10**9
_ROUNDING = 1e-6


class Head(NamedTuple):
    """A job that stands first in a line."""

    lane: str
    id: str
    priority: int
    queue: str
    type: str
    payload_version: int
    limits: str

    @property
    def keys(self) -> list[str]:
        """All its keys."""
        return json.loads(self.limits)  # type: ignore[no-any-return]


class Room:
    """What is known of a key, and what has been given out of it."""

    __slots__ = ("blocked", "here", "idle", "limit", "share", "tat", "used")

    def __init__(self, limit: Limit | None) -> None:
        self.limit = limit
        self.used = self.idle = self.here = 0
        self.tat = self.blocked = 0.0
        self.share = 0  # what a tenant may still have in this round

    def free(self, now: int) -> int:
        """How many jobs may be admitted."""
        limit = self.limit
        if limit is None:
            return _NO_LIMIT
        most = _NO_LIMIT
        if limit.concurrency is not None:
            most = limit.concurrency - (self.here + self.idle if limit.scope == "host" else self.used)
        if limit.rate is not None:
            most = min(most, self._starts(limit, now))
        if limit.is_fair:
            most = min(most, self.share)
        return max(0, most)

    def take(self, now: int) -> None:
        """One was admitted."""
        self.used += 1
        self.idle += 1
        self.share -= 1
        if self.limit is not None and self.limit.rate:
            self.tat = max(self.tat, now) + self.limit.gap

    def next_start(self, now: int) -> int | None:
        """In how many milliseconds its rate gives out the next start; None if it has no rate, or is closed."""
        if self.limit is None or not self.limit.rate:
            return None
        return max(FINEST_MS, ceil(max(self.tat - self.limit.slack, self.blocked) - now))

    def _starts(self, limit: Limit, now: int) -> int:
        if not limit.rate or self.blocked > now:
            return 0
        starts = floor((now + limit.slack - max(self.tat, now)) / limit.gap + _ROUNDING) + 1
        # Starts that nobody has made yet would be made all at once.
        return min(starts, ceil(limit.most_at_once) - self.idle)
