"""What a worker at rest may have fetched: the thread that hears of new work claims it at once, before the loop wakes.

A loop that is woken first hands the claim to the database thread and is woken once more when that is done. Each turn of
threads costs a job that finds everyone at rest a tenth of a millisecond.

An errand is run once, by the ear's thread, or taken back by the loop: whoever takes it first.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.store.port import Order
    from holdfast.worker.places import Places


class Errand:
    """Orders of a worker that found nothing to claim."""

    __slots__ = ("_done", "_left", "orders", "pause", "wanted")

    def __init__(self, wanted: list[tuple[Places, int]], orders: list[Order]) -> None:
        self.wanted = wanted
        self.orders = orders
        self.pause: float | None = None  # how long to rest after it, once it was run
        self._left = [True]
        self._done = asyncio.Event()

    def take(self) -> bool:
        """Whether the caller is the one to run it; from any thread."""
        try:
            return self._left.pop()
        except IndexError:
            return False

    def end(self, pause: float | None) -> None:
        """It was run; called in the loop."""
        self.pause = pause
        self._done.set()

    async def over(self) -> None:
        """Wait until it was run."""
        await self._done.wait()
