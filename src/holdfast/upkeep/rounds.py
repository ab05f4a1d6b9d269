"""What a worker has to say and to look for again and again, in one transaction: it lives, whose lease has run out, and
what comes due that nobody told of.

While nothing runs, and where leases are long, that is all that an idle worker asks of the store.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from holdfast.upkeep.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction
    from holdfast.upkeep.retention import Heartbeat
    from holdfast.upkeep.watchdog import Watchdog


class Rounds(Turn):
    """The watchdog's turns; the heartbeat goes along when it is due, and a look on behalf of the worker's children."""

    name = "rounds"
    leader_only = False

    def __init__(
        self,
        desk: Desk,
        watchdog: Watchdog,
        heartbeat: Heartbeat,
        look: Callable[[Transaction], None] = lambda _: None,
    ) -> None:
        self._desk = desk
        self._watchdog = watchdog
        self._heartbeat = heartbeat
        self._look = look
        self._beat_at = 0.0

    @property
    def interval(self) -> float:  # type: ignore[override]
        """Until the next turn."""
        return min(self._watchdog.interval, max(0.1, self._beat_at - monotonic()))

    def turn(self, tx: Transaction) -> tuple[bool, dict[str, int]]:
        """Whether it beat, and how many runs went where."""
        beats = monotonic() >= self._beat_at
        if beats:
            self._heartbeat.beat(tx)
        counts = self._watchdog.recover(tx)
        self._look(tx)
        return beats, counts

    def conclude(self, answer: tuple[bool, dict[str, int]]) -> dict[str, int]:
        """How many runs went where."""
        beats, counts = answer
        if beats:
            self._beat_at = monotonic() + self._heartbeat.interval
        return counts
