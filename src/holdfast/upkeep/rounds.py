"""What a worker has to say and to look for again and again, in one transaction: it lives, and whose lease has run out.

While nothing runs, and where leases are long, that is all that an idle worker's upkeep asks of the store.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.engine.desk import Desk
    from holdfast.store.port import Transaction
    from holdfast.upkeep.retention import Heartbeat
    from holdfast.upkeep.watchdog import Watchdog


class Rounds:
    """The watchdog's turns; the heartbeat goes along when it is due."""

    name = "rounds"
    leader_only = False

    def __init__(self, desk: Desk, watchdog: Watchdog, heartbeat: Heartbeat) -> None:
        self._desk = desk
        self._watchdog = watchdog
        self._heartbeat = heartbeat
        self._beat_at = 0.0

    @property
    def interval(self) -> float:
        """Until the next turn."""
        return min(self._watchdog.interval, max(0.1, self._beat_at - monotonic()))

    def run_once(self) -> dict[str, int]:
        """One turn; answers how many runs went where."""
        counts = self._desk.write(self._turn)
        if monotonic() >= self._beat_at:
            self._beat_at = monotonic() + self._heartbeat.interval
        return counts

    def _turn(self, tx: Transaction) -> dict[str, int]:
        if monotonic() >= self._beat_at:
            self._heartbeat.beat(tx)
        return self._watchdog.recover(tx)
