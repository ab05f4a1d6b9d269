"""Why a job stands in line for a limit, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.model.limit import ASIDE, FAIR, readable, rule_of, tenant_of, under

if TYPE_CHECKING:
    from holdfast.model.job import Job
    from holdfast.store.port import Transaction

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that is true of the job, with a code for programs and a sentence for people."""

    code: str
    text: str


def over_limit(tx: Transaction, job: Job, *, in_line: bool) -> list[Reason]:
    """What the line is for that a job stands in, and who is before it."""
    if job.lane is None or not in_line:
        return []
    key = job.lane.removeprefix(ASIDE)
    limit = under(key, {one.name: one for one in tx.limits() if not one.removed})
    if limit is None:
        text = f"the store knows no limit {readable(key)!r}: one of the code is stored when its worker starts"
        return [Reason("LIMITED", f"about to be let in: {text}")]
    if key.startswith(FAIR):
        name = rule_of(key).removeprefix(FAIR)
        return [
            Reason("LIMITED", f"tenants of queue {name!r} take turns: tenant {tenant_of(key)!r} waits for its next")
        ]
    holders, tat, blocked = tx.lane_state(key, _SHOWN + 1)
    reasons = [_aside(tx, job.lane, key)] if key != job.lane else []
    if limit.concurrency is not None and len(holders) >= min(limit.concurrency, _SHOWN):
        more = " and others" if len(holders) > _SHOWN else ""
        held = f", held by {', '.join(holders[:_SHOWN])}{more}" if holders else ""
        reasons.append(Reason("LIMITED", f"over limit {limit.name!r} ({limit.words()}), key {key!r}{held}"))
    if limit.rate == 0:
        reasons.append(Reason("LIMITED", f"limit {limit.name!r} lets nothing start"))
    elif limit.rate is not None:
        wait = max(tat - limit.slack, blocked) - tx.now
        when = f"the next in {wait / 1000:.1f} s" if wait > 0 else "the next at once"
        reasons.append(Reason("LIMITED", f"rate of limit {limit.name!r} ({limit.words()}), key {key!r}: {when}"))
    return reasons or [Reason("LIMITED", f"in line for limit {limit.name!r} ({limit.words()}), key {key!r}")]


def _aside(tx: Transaction, lane: str, key: str) -> Reason:
    wait = max(0.0, tx.lane_state(lane, 0)[2] - tx.now) / 1000
    text = "as nobody took it, it let others before it: a queue was paused, or no live worker knew a type"
    return Reason("STOOD_ASIDE", f"{text}; back in line for key {key!r} in {wait:.0f} s, or when a worker starts")
