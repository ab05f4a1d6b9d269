"""Jobs that a supervisor claims itself, because each runs in a process of its own: suspects first, then types that ask
for it. It looks when there is news, when one comes due, and now and then in case news were lost.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from holdfast.engine import leases, limits
from holdfast.store.port import Order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.engine.desk import Desk
    from holdfast.model.lease import Claim, Lane
    from holdfast.signals.port import Ear
    from holdfast.store.port import Transaction
    from holdfast.worker.application import Described

SUSPECTS = 16  # jobs at once that are tried again alone; they had places before, so they may have as many again
POLL = 1.0


class _Found(NamedTuple):
    claims: list[Claim]
    next_due: float | None  # seconds


class Solos:
    """When to look for such a job, and the look."""

    def __init__(self, desk: Desk, most: int) -> None:
        self._desk = desk
        self._most = most
        self._looked = float("-inf")
        self._spared = float("-inf")
        self._due = float("inf")

    def worth_a_look(self, ear: Ear | None) -> bool:
        """Whether it is time to look although nobody has told of anything."""
        if ear is not None and ear.proven:
            rested = max(self._looked + ear.patience, self._spared)
        else:
            rested = self._looked + POLL
        return monotonic() >= min(rested - 0.01, self._due)

    def spare(self, until: float, due: float | None) -> None:
        """Somebody looked for us: no need to look before an instant, or before one comes due in so many seconds."""
        self._spared = until
        self._due = float("inf") if due is None else monotonic() + due

    def take(self, app: Described, owner: str, alone: int) -> Claim | None:
        """One job for a process of that name, if so many that there are already leave room for it."""
        suspects = app.lanes() if alone < max(SUSPECTS, self._most) else ()
        isolated = app.lanes(isolated=True) if alone < self._most else ()
        if app.said:  # before anything is claimed that may stand in line for them
            self._desk.write(limits.declare, app.said)
            app.said = {}
        order = Order(owner, suspects, 1, app.shortest_lease())
        found = self._desk.write(_claim_one, order, isolated)
        self._looked = monotonic()
        self._due = float("inf") if found.next_due is None else self._looked + found.next_due
        return found.claims[0] if found.claims else None


def _claim_one(tx: Transaction, order: Order, isolated: Sequence[Lane]) -> _Found:
    claims = leases.claim_alone(tx, order) if order.lanes else []
    claims = claims or (leases.claim(tx, order._replace(lanes=isolated)) if isolated else [])
    return _Found(claims, None if claims else leases.next_solo(tx, isolated))
