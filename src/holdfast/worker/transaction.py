"""`job.transaction()`: the handler's own writes, its follow-ups and its completion, committed together.

The job's own row is written last, under its token: until then nobody who renews the lease has to wait, and a lost lease
or a cancel is met before anything is durable. From the commit on the run is over: its slot shows a handler that has
returned, so nobody stops it for want of a lease, and whatever it returns or raises is ignored.
"""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.engine import jobs
from holdfast.engine.apart import Apart
from holdfast.engine.block import Block
from holdfast.model.decide import Move
from holdfast.model.errors import BadInput, Conflict, PayloadError
from holdfast.model.outcome import Outcome, Raised
from holdfast.model.status import Status
from holdfast.store.port import Ending
from holdfast.worker.slots import RETURNED, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType

    from holdfast.engine.desk import Desk
    from holdfast.model.lease import Claim
    from holdfast.worker.context import JobContext
    from holdfast.worker.runner import Run

log = logging.getLogger("holdfast.worker")

LONGEST = 1.0  # seconds, where a transaction that writes keeps all others from writing
LONGEST_AWAITED = 30.0  # seconds elsewhere, for a block that awaits: it may wait for what waits for it


class JobTransaction:
    """What a handler does in its block: `execute` runs its own statements, `result` is the job's result."""

    def __init__(self, transaction: Any) -> None:
        self._transaction = transaction
        self.result: Any = None

    def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        """Run a statement of the handler's own; answers its rows."""
        return self._transaction.execute(sql, parameters)  # type: ignore[no-any-return]


class AwaitedTransaction:
    """The same in a coroutine: `execute` is awaited."""

    def __init__(self, block: JobTransaction, apart: Apart) -> None:
        self._block = block
        self._apart = apart

    @property
    def result(self) -> Any:
        """The job's result."""
        return self._block.result

    @result.setter
    def result(self, value: Any) -> None:
        self._block.result = value

    async def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        """Run a statement of the handler's own; answers its rows."""
        return await self._apart.execute(sql, parameters)


class EndingBlock:
    """What `job.transaction()` gives, for `with` and `async with`: a block that ends the run if it ends well."""

    def __init__(self, context: JobContext, desk: Desk, claim: Claim, show: Callable[[int], None] | None) -> None:
        self._context = context
        self._desk = desk
        self._claim = claim
        self._enter = show or _unseen
        self._block: Block
        self._apart: Apart

    def __enter__(self) -> JobTransaction:
        self._check()
        self._block = Block(self._steps(self._desk.transaction()))
        return self._block.__enter__()  # type: ignore[no-any-return]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._block.__exit__(kind, error, trace)

    async def __aenter__(self) -> AwaitedTransaction:
        self._check()
        self._apart = Apart(self._desk, self._steps)
        return AwaitedTransaction(await self._apart.enter(self._longest), self._apart)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._apart.leave(error)
        except TimeoutError as late:
            raise _too_long(self._longest, self._longest) from late

    @property
    def _longest(self) -> float:
        return LONGEST if self._desk.store.writes_alone else LONGEST_AWAITED

    def _check(self) -> None:
        if self._context.settled:
            raise BadInput("BAD_OPTION", "this run is over, its transaction has ended it: return from the handler")

    def _steps(self, transaction: Generator[Any, None, None]) -> Generator[Any, None, None]:
        """The job's row is written last."""
        try:
            with Block(transaction) as tx:
                began = monotonic()
                block = JobTransaction(tx)
                yield block
                if self._context.follow_ups:
                    jobs.enqueue(tx, self._context.follow_ups)
                self._enter(RETURNED)  # before the lease is gone: one whose handler has returned is not told to stop
                _complete(tx, self._claim, _as_text(block.result))
                if self._desk.store.writes_alone:
                    _check_length(monotonic() - began)
        except BaseException:
            self._enter(RUNNING)
            raise
        self._context.settled = True


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
        raise _too_long(seconds, LONGEST)


def _too_long(seconds: float, most: float) -> BadInput:
    return BadInput(
        "TRANSACTION_TOO_LONG",
        f"the block took {seconds:.1f} s, and kept others from writing; at most {most:g} s are allowed here, and all "
        "of it was rolled back: do the slow work before the block",
    )
