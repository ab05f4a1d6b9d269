"""The verbs for workers: claim, renew, finish, and the exchange of endings for new work in one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.model.lease import Claim
    from holdfast.store.port import Ending, Order, Transaction


def claim(tx: Transaction, order: Order) -> list[Claim]:
    """Take due jobs under a lease, best first."""
    return tx.claim(order)


def renew(tx: Transaction, holds: Sequence[tuple[str, int]], lease_ms: int) -> list[bool]:
    """Extend leases, given as (job id, token); False means lost: stop that handler."""
    return tx.renew(holds, lease_ms)


def finish(tx: Transaction, endings: Sequence[Ending]) -> list[bool]:
    """End runs; False means the lease was lost and nothing was written."""
    return tx.finish(endings)


def exchange(tx: Transaction, endings: Sequence[Ending], order: Order | None) -> tuple[list[bool], list[Claim]]:
    """Hand in endings and take new work: one commit for both."""
    accepted = tx.finish(endings) if endings else []
    return accepted, tx.claim(order) if order is not None else []


def progress(tx: Transaction, job_id: str, token: int, text: str) -> bool:
    """Show how far a run is; False means the lease was lost."""
    return tx.progress(job_id, token, text)
