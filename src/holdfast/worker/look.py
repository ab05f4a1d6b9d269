"""What a supervisor makes of a child when it compares the runs it shows with the leases it holds.

    lease without a run, or with one whose       handed back: the child is stuck and will not begin it
    handler is not entered, older than a moment
    run without a lease                          lost: the child is told to stop it, and killed if it does not
    run past its time-out and a grace            the child is killed: the run failed, its neighbours were interrupted;
                                                 no grace for one that stands still
    lease a third gone                           renewed

A run whose handler has returned only waits for its commit, and one that was never entered uses no time: neither
overruns anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.engine import leases
from holdfast.model import stamp
from holdfast.model.outcome import Unstarted
from holdfast.worker import slots as slot_words
from holdfast.worker.slots import SlotMap, Started
from holdfast.worker.standstill import LONG, Standstill

if TYPE_CHECKING:
    from holdfast.model.lease import Claim
    from holdfast.store.port import Hold, Transaction

OVERRUN_GRACE = 5.0
_UNSTARTED_MS = 2_500

Key = tuple[str, int]  # a run: the job's id and its token
Holds = dict[Key, "Hold"]


@dataclass(kw_only=True, eq=False)
class Child:
    """One child as its supervisor knows it."""

    name: str
    owner: str
    slots: SlotMap
    claim: Claim | None = None  # of a solo child
    pid: int = 0  # until the template has told it
    born: float = 0.0
    leaving_since: float | None = None  # told to drain
    killed_for: str | None = None
    overdue: dict[Key, int] = field(default_factory=dict)  # runs past their time-outs, in milliseconds
    lost: dict[Key, float] = field(default_factory=dict)  # runs without a lease, since when
    standstill: Standstill = field(init=False)

    def __post_init__(self) -> None:
        self.standstill = Standstill(self.owner, self.slots)

    @property
    def solo(self) -> bool:
        """Whether it runs one job alone."""
        return self.claim is not None


def judge(child: Child, runs: list[Started], holds: Holds, now: float) -> str | None:
    """Pass on what the store says of its runs; answers why the child must be killed, if it must."""
    grace = OVERRUN_GRACE if _can_heed(child, now) else 0.0
    lost = {}
    why = None
    for run in runs:
        key = (run.id, run.token)
        if run.phase == slot_words.RETURNED or (run.phase == slot_words.TAKEN and not child.solo):
            continue
        hold = holds.get(key)
        if hold is None:
            lost[key] = child.lost.get(key, now)
            child.slots.command(run, slot_words.STOP)
            if now - lost[key] >= grace:
                why = "a run that lost its lease would not stop"
        elif hold.asked_to_stop:
            child.slots.command(run, slot_words.ASK)
        if run.limit and now * 1000 - run.since > run.limit + grace * 1000:
            child.overdue[key] = run.limit
            why = "a run overran its time-out"
    child.lost = lost
    if child.slots.state() == slot_words.WORN and _leaves_for(child, now) > OVERRUN_GRACE:
        why = why or "a handler would not stop"
    return why


def begun(child: Child, runs: list[Started]) -> set[Key]:
    """The runs whose handlers were entered; a solo's is as good as entered while its process starts."""
    return {(run.id, run.token) for run in runs if child.solo or run.phase != slot_words.TAKEN}


def to_renew(keys: set[Key], holds: Holds, *, before: float) -> list[Key]:
    """The runs whose leases end before an instant."""
    return [key for key in keys if key in holds and holds[key].until < before]


def unstarted_since(lease_ms: int, now: int) -> int:
    """Claims older than this instant that have not begun will not begin: the child would hand them back by itself."""
    return now - min(_UNSTARTED_MS, lease_ms * 5 // 8)


def has_unstarted(keys: set[Key], holds: Holds, *, late: int) -> bool:
    """Whether a child holds claims that it should have begun long ago."""
    return any(hold.since < late and key not in keys for key, hold in holds.items())


def release_unstarted(tx: Transaction, owner: str, keys: set[Key], late: int) -> list[bool]:
    """Hand back what a child claimed and did not begin in time."""
    claims = [
        claim
        for claim in tx.held_by(owner)
        if (claim.id, claim.token) not in keys and stamp.from_text(claim.started_at) < late
    ]
    return leases.finish(tx, [(claim, Unstarted()) for claim in claims])


def _can_heed(child: Child, now: float) -> bool:
    """Whether it could stop a run by itself: a solo cannot, nor can one whose interpreter is held by a handler."""
    beaten = child.slots.beaten()
    return not child.solo and not (beaten and now - beaten / 1000 > LONG)


def _leaves_for(child: Child, now: float) -> float:
    return 0.0 if child.leaving_since is None else now - child.leaving_since
