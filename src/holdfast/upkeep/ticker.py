"""Makes the jobs of schedules when their ticks come.

Every process with upkeep runs it: a tick waits for no election, and the store lets it be dealt with once. They come a
little apart, so that most find the work done. Where no tick is near, it looks along with others.
"""

from __future__ import annotations

from random import uniform
from typing import TYPE_CHECKING

from holdfast.engine import schedules
from holdfast.upkeep.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.engine.desk import Desk
    from holdfast.model.schedule import Plan
    from holdfast.store.port import Transaction

_APART = 0.1  # seconds
_SLACK = 15.0


class Ticker(Turn):
    """Stores what the code says once, then sleeps from tick to tick."""

    name = "ticker"
    leader_only = False

    def __init__(self, desk: Desk, plans: Mapping[str, Plan]) -> None:
        self._desk = desk
        self._plans = dict(plans)
        self._slack = 0.0
        self.interval = 0.0

    @property
    def slack(self) -> float:
        """None before a tick."""
        return self._slack

    def hurry(self) -> None:
        """A schedule may have changed: wait for nobody."""
        self._slack = 0.0

    def turn(self, tx: Transaction) -> tuple[dict[str, int], float]:
        """Deal with the ticks that have come."""
        if self._plans:
            schedules.declare(tx, self._plans)
        return schedules.tick_due(tx)

    def conclude(self, answer: tuple[dict[str, int], float]) -> dict[str, int]:
        """The counts. Says by `interval` when to come again."""
        counts, rest = answer
        self._plans.clear()
        self._slack = _SLACK if rest >= schedules.LONGEST_REST else 0.0
        self.interval = rest + uniform(0, _APART)
        return counts
