"""The verbs for limits: who may be claimed, what the limits are, and the pace of calls inside handlers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.model.errors import Conflict, NotFound
from holdfast.model.limit import Limit, under
from holdfast.model.request import check_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.model.lease import Claim
    from holdfast.store.port import Order, Transaction

CODE = "code"
STEPS = 4  # looks at lines in one transaction
AGAIN = -1  # another process has the key in its hands


def claim_all(tx: Transaction, orders: Sequence[Order], ended: int = 0) -> list[list[Claim]]:
    """Take due jobs for each order; those with limits among them, as far as their keys have room. `ended` runs were
    handed in with it.
    """
    admitted = admit(tx, orders, ended)
    claims = [tx.claim(order) for order in orders]
    for _ in range(STEPS):
        if not tx.stirred or (tx.crowded and _has_work(orders, claims, admitted)):
            break
        admitted = tx.admit(orders)
        if not admitted and not tx.crowded:
            break
        for order, found in zip(orders, claims, strict=True):
            if len(found) < order.limit:
                found.extend(tx.claim(order._replace(limit=order.limit - len(found))))
                found.sort(key=_by_turn)
    return [_within_host(tx, found) for found in claims]


def _by_turn(claim: Claim) -> tuple[int, str, str]:
    return claim.priority, claim.scheduled_at, claim.id


def _has_work(orders: Sequence[Order], claims: Sequence[Sequence[Claim]], admitted: int) -> bool:
    """Whether a claim should not be kept waiting for more lines: they have no room, or nobody here has a place for it.
    Whoever has claimed something soon comes again.
    """
    filled = all(len(found) >= order.limit for order, found in zip(orders, claims, strict=True))
    return filled or (not admitted and any(claims))


def admit(tx: Transaction, orders: Sequence[Order], ended: int = 0) -> int:
    """Look at the lines of limits that are to be looked at now; of a crowd of lines only at so many that the claim that
    follows is not kept waiting. Answers how many jobs were admitted.
    """
    if not tx.stirred:
        tx.stir()
    few = tx.few_lines(ended) if tx.stirred else 0
    admitted = 0
    for _ in range(STEPS):
        if not tx.stirred or tx.crowded:
            break
        admitted += tx.admit(orders, few)
    return admitted


def _within_host(tx: Transaction, claims: list[Claim]) -> list[Claim]:
    """The claims without those that are too many for this host: these are handed back for another."""
    limited = [claim for claim in claims if claim.limits is not None]
    over = set(tx.over_host(limited)) if limited else set()
    if not over:
        return claims
    from holdfast.model.decide import decide  # noqa: PLC0415
    from holdfast.model.outcome import Unstarted  # noqa: PLC0415
    from holdfast.model.policy import DEFAULT_POLICY  # noqa: PLC0415
    from holdfast.store.port import Ending  # noqa: PLC0415

    tx.finish([Ending(claim, decide(claim, Unstarted(), DEFAULT_POLICY, spread=0.0)) for claim in sorted(over)])
    return [claim for claim in claims if claim not in over]


def limits(tx: Transaction) -> list[Limit]:
    """Every limit in force, and those that a person removed although the code has them."""
    return tx.limits()


def get(tx: Transaction, name: str) -> Limit:
    """One limit, as it is now."""
    found = tx.limits(check_name("a limit's name", name))
    if not found:
        raise NotFound("LIMIT_NOT_FOUND", f"no limit {name!a:.60}: `holdfast limits` lists them")
    return found[0]


def declare(tx: Transaction, said: Mapping[str, Limit]) -> int:
    """Store what the code says; what a person has changed stays in force. Answers how many are new or changed."""
    known = {limit.name: limit for limit in tx.limits()}
    changed = 0
    for name, limit in sorted(said.items()):
        old = known.get(name)
        if old is not None and old.code == limit.said():
            continue
        if old is None or old.source == CODE:
            tx.set_limit(replace(limit, code=limit.said(), updated_by=CODE))
            changed += 1
        else:
            tx.set_limit(replace(old, code=limit.said()))
    return changed


def set_limit(tx: Transaction, limit: Limit, *, by: str) -> Limit:
    """Say what holds from now on; it beats the code until `reset`."""
    old = tx.limits(limit.name)
    tx.set_limit(replace(limit, code=old[0].code if old else None, updated_by=by))
    return get(tx, limit.name)


def drop(tx: Transaction, name: str, *, by: str) -> Limit:
    """Limit no more. One that the code has stays on record, so that the next start does not bring it back."""
    old = get(tx, name)
    if old.removed:
        raise NotFound("LIMIT_NOT_FOUND", f"limit {name!a:.60} was removed: `holdfast limits reset` brings it back")
    if old.code is None:
        tx.drop_limit(name)
        return replace(old, removed=True)
    tx.set_limit(replace(old, removed=True, updated_by=by))
    return get(tx, name)


def reset(tx: Transaction, name: str) -> Limit:
    """Go back to what the code says."""
    old = get(tx, name)
    if old.code is None:
        raise Conflict("NOT_IN_CODE", f"limit {name!a:.60} was made at run time, not by the code: change or drop it")
    tx.set_limit(replace(old.as_said(old.code), removed=False, updated_by=CODE))
    return get(tx, name)


def pace(tx: Transaction, key: str, most_ms: int | None) -> int | None:
    """Take one start of a key's rate: milliseconds to wait for it. None if that is too long; 0 without a rate."""
    named = {limit.name: limit for limit in tx.limits() if not limit.removed}
    limit = under(key, named)
    if limit is None:
        return 0
    if 0 in (limit.rate, limit.concurrency):
        return None
    if limit.rate is None:
        return 0
    return tx.pace(key, limit, most_ms)


def penalise(tx: Transaction, key: str, ms: int) -> None:
    """No starts of a key for a while, for anybody."""
    tx.penalise(key, ms)
