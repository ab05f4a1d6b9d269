"""A store that is away: said once, tried again with growing pauses, and said once that it is back."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.model.errors import StoreError

log = logging.getLogger("holdfast.worker")

LONGEST_PAUSE = 10.0
UNSURE = 10.0  # after the store was away, the supervisor compares for so long at least


class Away:
    """What a worker knows of its store's absence."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._back_at = float("-inf")

    @property
    def recently(self) -> bool:
        """Whether an answer may have been lost with it a moment ago."""
        return monotonic() - self._back_at < UNSURE

    def pause(self, error: StoreError) -> float:
        """It is away (still); answers how long to rest before the next try."""
        now = monotonic()
        if self._since is None:
            self._since = now
            log.warning("the store is away: %s", error)
        return min(LONGEST_PAUSE, max(0.1, (now - self._since) / 2))

    def over(self) -> bool:
        """It has answered; whether it was away until now."""
        if self._since is None:
            return False
        self._back_at = monotonic()
        log.warning("the store is back after %.1f s", self._back_at - self._since)
        self._since = None
        return True
