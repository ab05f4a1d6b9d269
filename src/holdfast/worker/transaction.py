"""`job.transaction()`: the handler's own writes, its follow-ups and its completion, committed together.

The job's own row is written last, under its token: until then nobody who renews the lease has to wait, and a lost lease
or a cancel is met before anything is durable. From the commit on the run is over: its slot shows a handler that has
returned, so nobody stops it for want of a lease, and whatever it returns or raises is ignored.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.engine import jobs
from holdfast.model.decide import Move
from holdfast.model.errors import BadInput, Conflict, PayloadError
from holdfast.model.outcome import Outcome, Raised
from holdfast.model.status import Status
from holdfast.store.port import Ending
from holdfast.worker.slots import RETURNED, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.engine.desk import Desk
    from holdfast.model.lease import Claim
    from holdfast.worker.context import JobContext
    from holdfast.worker.runner import Run

log = logging.getLogger("holdfast.worker")

LONGEST = 1.0  # seconds, where a transaction that writes keeps all others from writing


class JobTransaction:
    """What a handler does in its block: `execute` runs its own statements, `result` is the job's result."""

    def __init__(self, transaction: Any) -> None:
        self._transaction = transaction
        self.result: Any = None

    def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        """Run a statement of the handler's own; answers its rows."""
        return self._transaction.execute(sql, parameters)  # type: ignore[no-any-return]


@contextmanager
def transaction_of(
    context: JobContext, desk: Desk, claim: Claim, show: Callable[[int], None] | None
) -> Iterator[JobTransaction]:
    """A block that ends the run if it ends well."""
    enter = show or _unseen
    if context.settled:
        raise BadInput("BAD_OPTION", "this run is over, its transaction has ended it: return from the handler")
    try:
        with contextmanager(desk.transaction)() as tx:
            began = monotonic()
            block = JobTransaction(tx)
            yield block
            if context.follow_ups:
                jobs.enqueue(tx, context.follow_ups)
            enter(RETURNED)  # before the lease is gone: one whose handler has returned is not told to stop
            _complete(tx, claim, _as_text(block.result))
            if desk.store.writes_alone:
                _check_length(monotonic() - began)
    except BaseException:
        enter(RUNNING)
        raise
    context.settled = True


def end_of_settled(run: Run, outcome: Outcome) -> None:
    """A handler has come back whose run was over: its job has completed, whatever it says now."""
    if isinstance(outcome, Raised):
        log.warning(
            "the handler of %s raised %s after its transaction: the job has completed all the same",
            run.claim.id,
            outcome.failure.kind,
        )


def _complete(tx: Any, claim: Claim, result: str | None) -> None:
    accepted = tx.finish([Ending(claim, Move(Status.COMPLETED, result))])[0]
    if accepted and tx.versions([claim.id])[claim.id][1] == Status.COMPLETED:
        return
    raise Conflict(
        "LEASE_LOST",
        f"job {claim.id} is no longer this run's: it was cancelled, overtaken, or its lease ran out. What the block "
        "wrote was rolled back: let the error pass",
    )


def _as_text(result: Any) -> str | None:
    from holdfast.worker.runner import returned  # noqa: PLC0415  # which needs the context, which needs us

    outcome = returned(result)
    if isinstance(outcome, Raised):
        raise PayloadError(outcome.failure.code, outcome.failure.message)
    return outcome.result  # type: ignore[union-attr]


def _unseen(_: int) -> None:
    """Nobody watches this run."""


def _check_length(seconds: float) -> None:
    if seconds > LONGEST:
        raise BadInput(
            "TRANSACTION_TOO_LONG",
            f"the block took {seconds:.1f} s, and nobody else could write meanwhile; at most {LONGEST:g} s are allowed "
            "on SQLite, and all of it was rolled back: do the slow work before the block",
        )
