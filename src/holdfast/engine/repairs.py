"""The verbs for upkeep: end runs nobody holds any more, hand back what a dead owner held, delete what is old."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from holdfast.engine.leases import endings_of
from holdfast.model.failure import Failure
from holdfast.model.ids import made_at
from holdfast.model.outcome import Crashed, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from holdfast.model.lease import Claim
    from holdfast.model.policy import Policy
    from holdfast.store.port import Transaction

DAY_MS = 24 * 3600 * 1000
KEEP_MS = {
    "completed": 7 * DAY_MS,
    "cancelled": 7 * DAY_MS,
    "failed": 30 * DAY_MS,
}  # dead letters wait for a person

_EXPIRED = Crashed(Failure("LeaseExpired", "the worker stopped renewing its lease", "LEASE_EXPIRED"))


def recover_expired(
    tx: Transaction, policies: Mapping[str, Policy] | None = None, *, limit: int = 200
) -> dict[str, int]:
    """End runs whose lease ran out, by the same rule as any crash; answers how many went where."""
    return _end(tx, tx.expired(limit), lambda _: _EXPIRED, policies or {}, expired=True)


def expire_parked(tx: Transaction, *, limit: int = 200) -> dict[str, int]:
    """End jobs that waited for a person for too long; answers how many went where."""
    ended = tx.expire_parked(limit)
    return {"dead_letter": ended} if ended else {}


def until_expiry(tx: Transaction) -> float | None:
    """Seconds until the earliest lease ends that has not ended yet; None if nothing runs."""
    ends = tx.next_expiry()
    return None if ends is None else max(0.0, (ends - tx.now) / 1000)


def end_runs_of(
    tx: Transaction,
    owner: str,
    outcome: Callable[[Claim], Outcome],
    policies: Mapping[str, Policy] | None = None,
    stopped: Iterable[tuple[str, int]] = (),
) -> dict[str, int]:
    """End every run that a dead owner held; `outcome` says how each one ended. `stopped`: all that it ran."""
    tx.stopped(list(stopped))  # what was cancelled is no longer held, and ends with its owner, too
    return _end(tx, tx.held_by(owner), outcome, policies or {}, expired=False)


def sweep_ended(
    tx: Transaction,
    keep_ms: Mapping[str, int] | None = None,
    *,
    after: str = "",
    window: int = 500,
    whole: bool = True,
) -> tuple[int, str | None]:
    """Delete ended jobs older than their status is kept: the count, and the cursor to go on from (None at the end).

    Unless the whole table is asked for, the end is where jobs were created so lately that none can be old enough.
    """
    keep = dict(KEEP_MS if keep_ms is None else keep_ms)
    deleted, cursor = tx.sweep_ended(keep, after, window)
    if cursor is None or (not whole and made_at(cursor) > tx.now - min(keep.values(), default=0)):
        return deleted, None
    return deleted, cursor


def _end(
    tx: Transaction,
    claims: list[Claim],
    outcome: Callable[[Claim], Outcome],
    policies: Mapping[str, Policy],
    *,
    expired: bool,
) -> dict[str, int]:
    endings = endings_of([(claim, outcome(claim)) for claim in claims], policies)
    accepted = tx.finish(endings, expired=expired)
    return dict(Counter(ending.move.status.value for ending, held in zip(endings, accepted, strict=True) if held))
