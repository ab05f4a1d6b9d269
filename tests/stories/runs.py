"""How the workers of the stories claim and finish: the engine's exchange, for one order."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from holdfast import App
from holdfast.engine import leases
from holdfast.model.lease import Claim, Lane
from holdfast.model.outcome import Outcome
from holdfast.model.policy import Policy
from holdfast.store.port import Order

Ended = tuple[Claim, Outcome]


def order_of(*types: str, limit: int, lease_ms: int = 60_000) -> Order:
    """What this process asks for, in its own name."""
    return Order(f"worker-{os.getpid()}", [Lane("default", kind) for kind in types], limit, lease_ms)


def exchange(
    app: App, ended: Sequence[Ended], order: Order, policies: Mapping[str, Policy] | None = None
) -> tuple[list[bool], list[Claim]]:
    """Hand in what ended, take new work, in one commit, as a worker does: which endings were accepted, and what was
    claimed.
    """
    if ended:
        exchanged = app.desk.write(leases.exchange, ended, [order], policies)
    else:
        exchanged = asyncio.run(app.desk.ataken(leases.exchange, ended, [order], policies))
    return exchanged.accepted, exchanged.claims[0]
