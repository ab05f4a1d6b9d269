"""Turns everything that can happen to a run into exactly one outcome."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError, to_json

from holdfast.model.errors import AwaitAuth, PayloadError, Permanent, Retry, Snooze
from holdfast.model.failure import Failure, failure_of
from holdfast.model.outcome import Outcome, Raised, Returned, Snoozed
from holdfast.model.payload import admit
from holdfast.worker.context import JobContext

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdfast.engine.desk import Desk
    from holdfast.engine.registry import Definition
    from holdfast.model.lease import Claim


class Run:
    """One run under way, and what is known of its end."""

    __slots__ = (
        "_context", "_stop_asked", "claim", "definition", "desk", "lost", "outcome", "pool", "since", "slot",
        "stopping_since", "task", "timeout_ms", "verdict",
    )  # fmt: skip

    def __init__(
        self,
        claim: Claim,
        definition: Definition,
        desk: Desk,
        pool: Any = None,
        *,
        since: float = 0.0,
        timeout_ms: int | None = None,
    ) -> None:
        self.claim = claim
        self.definition = definition
        self.desk = desk
        self.pool = pool
        self.since = since
        self.timeout_ms = timeout_ms
        self.slot = -1
        self.task: asyncio.Task[None] | None = None
        self.outcome: Outcome | None = None
        self.verdict: Outcome | None = None  # decided from outside: a time-out, a stop
        self.lost = False
        self.stopping_since: float | None = None
        self._context: JobContext | None = None
        self._stop_asked = False

    def arguments(self) -> dict[str, Any]:
        """What the handler is called with. Raises PayloadError when the stored payload does not fit it."""
        signature = self.definition.signature
        arguments = signature.load(self.claim.payload)
        if signature.context_name is not None:
            self._context = JobContext(self.claim, self.desk)
            if self._stop_asked:
                self._context.stop()
            arguments[signature.context_name] = self._context
        return arguments

    def ask_to_stop(self) -> None:
        """Let the handler see `cancelled`."""
        self._stop_asked = True
        if self._context is not None:
            self._context.stop()


async def run_coroutine(run: Run) -> Outcome:
    """Run a coroutine handler. A cancellation passes through: whoever cancels knows why."""
    try:
        return returned(await run.definition.function(**run.arguments()))
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever a handler raises is its outcome, SystemExit too
        return outcome_of(error, run.definition)


async def run_function(run: Run, executor: Executor) -> Outcome:
    """Run a plain function in a thread."""
    context = contextvars.Context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(executor, context.run, call_function, run)


def call_function(run: Run) -> Outcome:
    """Run a plain function here and now."""
    try:
        return returned(run.definition.function(**run.arguments()))
    except BaseException as error:  # noqa: BLE001
        return outcome_of(error, run.definition)


def returned(value: Any) -> Outcome:
    """The outcome of a value that a handler returned."""
    if value is None:
        return Returned(None)
    try:
        return Returned(admit(to_json(value, inf_nan_mode="constants").decode(), what="result"))
    except (PydanticSerializationError, PayloadError, ValueError) as error:
        failure = Failure(type(error).__name__, f"result cannot be stored: {error}", "RESULT_UNSTORABLE")
        return Raised(failure, permanent=True)


def outcome_of(error: BaseException, definition: Definition) -> Outcome:
    """The outcome of an error that a handler raised."""
    match error:
        case Snooze(seconds=seconds):
            return Snoozed(max(0, int(seconds * 1000)))
        case Retry(after=after):
            return Raised(failure_of(error), after_ms=None if after is None else max(0, int(after * 1000)))
        case Permanent() | AwaitAuth() | PayloadError():
            return Raised(failure_of(error), permanent=True)
        case _:
            return Raised(failure_of(error), permanent=isinstance(error, definition.policy.permanent))
