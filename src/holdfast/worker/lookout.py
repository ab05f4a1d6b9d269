"""One look for a whole worker: what waits for it that no signal has told of.

Children that hear by a proven signal learn of new jobs at once. What is left to find is what nobody told of: a job
whose enqueuer died between its commit and its word, or one that was written by other means. Looks for such jobs by each
child and by the supervisor would be most of what an idle worker asks of its store. So one look goes along with the
supervisor's rounds, and each child is told until when it need not look by itself: until a job comes due, or until this
look is late.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from holdfast.engine import leases

if TYPE_CHECKING:
    from holdfast.store.port import Transaction
    from holdfast.worker.supervisor import Supervisor

LONG = 30.0  # seconds; who rests for less between two looks is not spared them
_LATE = 1.5  # looks are late after so many times as long as they should take
_EARLY = 1.0  # seconds


class Lookout:
    """Looks when the supervisor's rounds do, as often as its ear wants it."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._next = 0.0

    def look(self, tx: Transaction) -> None:
        """Look, in a transaction that is open, and tell those whose look it is."""
        crew, ear, now = self._supervisor, self._supervisor.ear, monotonic()
        if ear is None or not ear.proven or ear.patience < LONG or now < self._next:
            return
        self._next = now + ear.patience - _EARLY
        spared = now + ear.patience * _LATE
        due = leases.next_due(tx, crew.app.lanes(isolated=False))
        crew.solos.spare(spared, leases.next_solo(tx, crew.app.lanes(isolated=True), due_too=True))
        for child in crew.children.values():
            child.slots.spare(int(1000 * (spared if due is None else min(spared, now + due))))
