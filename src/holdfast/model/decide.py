"""The whole rule of retries and dead letters: from how a run ended to where the job goes."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from holdfast.model.failure import Failure
from holdfast.model.held import ALONE
from holdfast.model.lease import Claim
from holdfast.model.outcome import (
    Abandoned,
    Crashed,
    Outcome,
    Parked,
    Raised,
    Returned,
    Snoozed,
    Stopped,
    Suspected,
    Unstarted,
)
from holdfast.model.parking import MOST_PARKS, TOO_MANY, question
from holdfast.model.policy import Policy
from holdfast.model.status import Status

CANCELLED = Failure("Cancelled", "stopped on request", "CANCELLED")


class Move(NamedTuple):
    """What is written when a run ends. `wait_ms` counts from the store's own instant; None keeps the old due time."""

    status: Status
    result: str | None = None
    error: str | None = None
    wait_ms: int | None = None
    give_back: int = 0
    failed: int = 0
    crashed: int = 0
    interrupted: int = 0
    hold: int = 0  # reasons to hold it, added
    free: int = ALONE  # and taken away: a run that ended by itself clears a suspect
    why: str = "completed"
    auth: str | None = None  # what a person is asked, where, under which key, and for how long
    auth_key: str | None = None
    auth_ms: int = 0


def decide(claim: Claim, outcome: Outcome, policy: Policy, *, spread: float) -> Move:  # noqa: PLR0911  # one each
    """The move that follows from the outcome. `spread` in [0, 1) picks the jitter of the back-off."""
    if isinstance(outcome, Returned):  # the usual end comes first, by the quickest way
        return Move(Status.COMPLETED, outcome.result)
    match outcome:
        case Raised(failure, permanent, after_ms):
            return _failed(claim, failure, policy, spread=spread, permanent=permanent, after_ms=after_ms)
        case Crashed(failure, alone):
            return _crashed(claim, failure, policy, spread=spread, alone=alone)
        case Suspected(failure):
            return Move(Status.QUEUED, error=failure.as_text(), wait_ms=0, give_back=1, hold=ALONE, why="suspected")
        case Snoozed(for_ms):
            return Move(Status.QUEUED, wait_ms=for_ms, give_back=1, why="snoozed")
        case Parked():
            return _parked(claim, outcome)
        case Stopped():
            return Move(Status.QUEUED, give_back=1, interrupted=1, free=0, why="interrupted")
        case Unstarted():
            return Move(Status.QUEUED, give_back=1, free=0, why="released")
        case Abandoned():
            return Move(Status.CANCELLED, error=CANCELLED.as_text(), why="cancelled")
        case _:
            assert_never(outcome)


def _failed(
    claim: Claim,
    failure: Failure,
    policy: Policy,
    *,
    spread: float,
    permanent: bool,
    after_ms: int | None,
) -> Move:
    error = failure.as_text()
    if permanent:
        return Move(Status.FAILED, error=error, failed=1, why="failed")
    if claim.attempts >= claim.max_attempts:
        return Move(Status.DEAD_LETTER, error=error, failed=1, why="attempts exhausted")
    wait = policy.backoff.delay_ms(claim.attempts, spread) if after_ms is None else after_ms
    return Move(Status.QUEUED, error=error, wait_ms=wait, failed=1, why="retry")


def _parked(claim: Claim, outcome: Parked) -> Move:
    if claim.parks >= MOST_PARKS:
        return Move(Status.DEAD_LETTER, error=TOO_MANY.as_text(), failed=1, why="parks exhausted")
    return Move(
        Status.AWAITING_AUTH,
        give_back=1,
        why="parked",
        auth=question(outcome.reason, outcome.url),
        auth_key=outcome.key,
        auth_ms=outcome.for_ms,
    )


def _crashed(claim: Claim, failure: Failure, policy: Policy, *, spread: float, alone: bool) -> Move:
    error = failure.as_text()
    if claim.crashed + 1 >= policy.max_crashes:
        return Move(Status.DEAD_LETTER, error=error, crashed=1, why="crashes exhausted")
    if claim.attempts >= claim.max_attempts:
        return Move(Status.DEAD_LETTER, error=error, crashed=1, why="attempts exhausted")
    wait = 0 if claim.crashed == 0 else policy.backoff.delay_ms(claim.attempts, spread)
    return Move(Status.QUEUED, error=error, wait_ms=wait, crashed=1, hold=ALONE * alone, free=0, why="crashed")
