"""The verbs for workers: claim, renew, finish, and the exchange of endings for new work in one commit."""

from __future__ import annotations

import random
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from holdfast.engine.limits import admit, claim_all
from holdfast.model.decide import Move, decide
from holdfast.model.outcome import Returned
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.store.port import Ending

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.model.lease import Claim, Lane
    from holdfast.model.outcome import Outcome
    from holdfast.model.policy import Policy
    from holdfast.store.port import Hold, Order, Transaction


class Exchanged(NamedTuple):
    """What a worker gets for what it handed in."""

    moves: list[Move]  # for each ending
    accepted: list[bool]  # False: the lease was lost, nothing was written
    claims: list[list[Claim]]  # for each order
    next_due: int | None  # when more comes due, if nothing was there to claim
    now: int  # the store's time when this was done
    at: float  # and this process's own, by the monotonic clock


def claim(tx: Transaction, order: Order) -> list[Claim]:
    """Take due jobs under a lease, best first."""
    return exchange(tx, [], [order]).claims[0]


def claim_alone(tx: Transaction, order: Order) -> list[Claim]:
    """Take due jobs that must run in a process of their own."""
    admit(tx, [order])
    return tx.claim_alone(order)


def held(tx: Transaction, owner: str) -> tuple[list[Hold], int]:
    """The leases of one owner, or of all owners of a supervisor; and the store's time."""
    return tx.held(owner), tx.now


def renew(tx: Transaction, holds: Sequence[tuple[str, int]], lease_ms: int) -> list[bool]:
    """Extend leases, given as (job id, token); False means lost: stop that handler."""
    return tx.renew(holds, lease_ms)


def finish(
    tx: Transaction, ended: Sequence[tuple[Claim, Outcome]], policies: Mapping[str, Policy] | None = None
) -> list[bool]:
    """End runs by what became of them; False means the lease was lost and nothing was written."""
    accepted = tx.finish(endings_of(ended, policies))
    _tell_stopped(tx, [run for run, _ in ended], accepted)
    return accepted


def exchange(
    tx: Transaction,
    ended: Sequence[tuple[Claim, Outcome]],
    orders: Sequence[Order],
    policies: Mapping[str, Policy] | None = None,
    stopped: Sequence[tuple[str, int]] = (),
) -> Exchanged:
    """Hand in endings and take new work: one commit for both. `stopped`: handlers that ended after their lease."""
    endings = endings_of(ended, policies)
    accepted = tx.finish(endings) if endings else []
    _tell_stopped(tx, [run for run, _ in ended], accepted, stopped)
    claims = claim_all(tx, orders, len(endings))
    moves = [ending.move for ending in endings]
    lanes = [lane for order in orders for lane in order.lanes]
    next_due = None if any(claims) or not lanes else tx.next_due(lanes)
    if tx.stirred and next_due is not None:  # lines to look at, of which only this look has told
        claims = claim_all(tx, orders)
        next_due = None if any(claims) else tx.next_due(lanes)
    return Exchanged(moves, accepted, claims, next_due, tx.now, monotonic())


def next_due(tx: Transaction, lanes: Sequence[Lane]) -> float | None:
    """Seconds until a job of these lanes is due, none if one is already; None if none waits."""
    return _from_now(tx, tx.next_due(lanes, due_too=True) if lanes else None)


def next_solo(tx: Transaction, isolated: Sequence[Lane], *, due_too: bool = False) -> float | None:
    """Seconds until the next job comes due that a supervisor has to claim; None if none waits."""
    of_lanes = tx.next_due(isolated, due_too=due_too) if isolated else None
    dues = [due for due in (tx.next_alone(due_too=due_too), of_lanes) if due is not None]
    return _from_now(tx, min(dues, default=None))


def _tell_stopped(
    tx: Transaction, runs: Sequence[Claim], accepted: Sequence[bool], stopped: Sequence[tuple[str, int]] = ()
) -> None:
    """Runs without a lease may have been cancelled, and somebody may wait until their handlers have stopped."""
    if stopped or not all(accepted):
        refused = [(run.id, run.token) for run, held in zip(runs, accepted, strict=True) if not held]
        tx.stopped([*refused, *stopped])


def _from_now(tx: Transaction, instant: int | None) -> float | None:
    return None if instant is None else max(0.0, (instant - tx.now) / 1000)


def progress(tx: Transaction, job_id: str, token: int, text: str) -> bool:
    """Show how far a run is; False means the lease was lost."""
    return tx.progress(job_id, token, text)


def endings_of(ended: Sequence[tuple[Claim, Outcome]], policies: Mapping[str, Policy] | None) -> list[Ending]:
    """What follows from how each run ended, by the rules of its type."""
    rules = policies or {}
    done: dict[str | None, Move] = {}  # the move of a run that went well depends on its result alone: most are alike
    endings = []
    for run, outcome in ended:
        if isinstance(outcome, Returned):
            move = done.get(outcome.result)
            if move is None:
                move = done[outcome.result] = decide(run, outcome, DEFAULT_POLICY, spread=0.0)
            endings.append(Ending(run, move, outcome.follow_ups))
        else:
            policy = rules.get(run.type, DEFAULT_POLICY)
            endings.append(Ending(run, decide(run, outcome, policy, spread=random.random())))
    return endings
