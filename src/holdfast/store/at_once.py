"""A claim that is one statement and commits by itself: what a woken worker tries first, because nothing is quicker.

It writes nothing but the claim, so it will not do for jobs with limits, whose units belong to the same commit. Where it
finds nothing, or lines of limits are to be looked at, the usual transaction follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.model.lease import Claim
    from holdfast.store.port import Order, Transaction


def taken_at_once(call: Callable[[Any], Any], claims: Transaction) -> list[Any]:
    """The answer of a call that claims and does nothing else, if it finds something; else nothing was done."""
    try:
        return [call(claims)]
    except LongWay:
        return []


class LongWay(Exception):
    """It takes a transaction."""


class AtOnce:
    """The verbs of a transaction that claims by a statement of its own. Whoever finds nothing asks further.

    One order is served, and the next exchange serves the others: somebody waits for this one; and were a second one
    refused, nobody would run what the first has taken.
    """

    served = False

    if TYPE_CHECKING:

        def claim_at_once(self, order: Order) -> list[Claim]: ...

    def claim(self, order: Order) -> list[Claim]:
        """The same, if nothing was taken yet."""
        found = [] if self.served else self.claim_at_once(order)
        self.served = self.served or bool(found)
        return found

    def admit(self, orders: Sequence[Order] = (), most: int | None = None) -> int:  # noqa: ARG002
        """The next exchange does it."""
        return 0

    def run(self, query: str, **parameters: object) -> NoReturn:  # noqa: ARG002
        """Whatever it is, it is not the claim."""
        raise LongWay

    change = run
