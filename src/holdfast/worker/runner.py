"""Turns everything that can happen to a run into exactly one outcome."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import os
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from holdfast.engine.signature import quick_json, write_json
from holdfast.model.errors import AwaitAuth, PayloadError, Permanent, Retry, Snooze
from holdfast.model.failure import Failure, failure_of
from holdfast.model.outcome import Outcome, Parked, Raised, Returned, Snoozed
from holdfast.model.payload import encode
from holdfast.worker.context import JobContext

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdfast.engine.desk import Desk
    from holdfast.engine.registry import Definition
    from holdfast.model.errors import StoreError
    from holdfast.model.lease import Claim
    from holdfast.worker.slots import SlotMap


log = logging.getLogger("holdfast.worker")

_PLAIN = frozenset((str, int, float, bool, type(None)))
_TEXT = frozenset((str,))
_LISTS = frozenset((list, tuple, set, frozenset))


class Run:
    """One run under way, and what is known of its end."""

    __slots__ = (
        "_stop_asked",
        "claim",
        "context",
        "definition",
        "desk",
        "lost",
        "outcome",
        "pool",
        "since",
        "slot",
        "slots",
        "stopping_since",
        "task",
        "timeout_ms",
        "verdict",
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
        self.slots: SlotMap | None = None
        self.task: asyncio.Task[None] | None = None
        self.outcome: Outcome | None = None
        self.verdict: Outcome | None = None  # decided from outside: a time-out, a stop
        self.lost = False
        self.stopping_since: float | None = None
        self.context: JobContext | None = None
        self._stop_asked = False

    def arguments(self) -> dict[str, Any]:
        """What the handler is called with. Raises PayloadError when the stored payload does not fit it."""
        signature = self.definition.signature
        arguments = signature.load(self.claim.payload)
        if signature.context_name is not None:
            arguments[signature.context_name] = self.begin_context()
        return arguments

    def begin_context(self) -> JobContext:
        """The context that the handler gets."""
        self.context = self.new_context()
        if self._stop_asked:
            self.context.stop()
        return self.context

    def new_context(self) -> JobContext:
        """What the handler may know and do about its run."""
        return JobContext(self.claim, self.desk, self.enter)

    def leave(self) -> None:
        """The worker stops: end soon, if there is a good moment for it."""

    @property
    def settled(self) -> bool:
        """Whether the handler has ended the run itself, in its own transaction."""
        return self.context is not None and self.context.settled

    def enter(self, phase: int) -> None:
        """Show how far the run is."""
        if self.slots is not None:
            self.slots.enter(self.slot, phase)

    def outcome_of(self, value: Any) -> Outcome:
        """The outcome of a value that the handler returned, with what it asked to be done next."""
        outcome = returned(value)
        if self.context is None or not self.context.follow_ups or not isinstance(outcome, Returned):
            return outcome
        return Returned(outcome.result, tuple(self.context.follow_ups))

    def ask_to_stop(self) -> None:
        """Let the handler see `cancelled`."""
        self._stop_asked = True
        if self.context is not None:
            self.context.stop()


async def run_coroutine(run: Run) -> Outcome:
    """Run a coroutine handler. A cancellation passes through: whoever cancels knows why."""
    if run.claim.batch is not None and run.claim.item is None:
        from holdfast.worker.chunks import run_chunk  # noqa: PLC0415  # a chunk runs its items by this very function

        return await run_chunk(run)  # type: ignore[arg-type]
    if run.definition.batch is not None:
        from holdfast.worker.together import run_together  # noqa: PLC0415

        return (await run_together([run]))[0]
    copies = _copies
    try:
        value = await run.definition.function(**run.arguments())
        if run.context is not None:
            await run.context.aflush()
        return run.outcome_of(value)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return outcome_of(error, run.definition)  # the handler's own doing: something it awaited was cancelled
    except BaseException as error:  # noqa: BLE001  # whatever a handler raises is its outcome, SystemExit too
        return outcome_of(error, run.definition)
    finally:
        if copies != _copies:
            _end_copy(run)


async def run_function(run: Run, executor: Executor) -> Outcome:
    """Run a plain function in a thread."""
    context = contextvars.Context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(executor, context.run, call_function, run)


def call_function(run: Run) -> Outcome:
    """Run a plain function here and now."""
    if run.claim.batch is not None and run.claim.item is None:
        from holdfast.worker.chunks import call_chunk  # noqa: PLC0415

        return call_chunk(run)  # type: ignore[arg-type]
    if run.definition.batch is not None:
        from holdfast.worker.together import call_together  # noqa: PLC0415

        return call_together([run])[0]
    copies = _copies
    try:
        value = run.definition.function(**run.arguments())
        if inspect.isawaitable(value):  # a plain function that wraps a coroutine
            value = asyncio.run(_await(value))
        if run.context is not None:
            run.context.flush()
        return run.outcome_of(value)
    except BaseException as error:  # noqa: BLE001
        return outcome_of(error, run.definition)
    finally:
        if copies != _copies:
            _end_copy(run)


_copies = 0  # of this process's line, each forked from the one before


def _count_copy() -> None:
    global _copies  # noqa: PLW0603  # asking the system for the process's number would cost each job two calls
    _copies += 1


os.register_at_fork(after_in_child=_count_copy)


def _end_copy(run: Run) -> None:
    """A handler that forked has returned twice. The copy must not go on as a worker: jobs would run in both."""
    log.warning("a process that the handler of %s forked came back from it, and is ended", run.claim.id)
    logging.shutdown()
    os._exit(0)


async def _await(value: Any) -> Any:
    return await value


def returned(value: Any) -> Outcome:
    """The outcome of a value that a handler returned."""
    if value is None:
        return Returned(None)
    try:
        quick = quick_json(value) if _is_flat(value) else None
        return Returned(quick or encode(_plain(value), what="result", write=write_json))
    except (PydanticSerializationError, PayloadError, ValueError, RecursionError) as error:
        return _unstorable(error)


def refused(error: StoreError, outcome: Outcome | None) -> Outcome | None:
    """What an ending becomes that the store will not take for what is in it; None: it is not for that."""
    if error.code != "STORE_REFUSED" or not isinstance(outcome, Returned):
        return None
    return _unstorable(error)


def _unstorable(error: Exception) -> Raised:
    failure = Failure(type(error).__name__, f"result cannot be stored: {error}", "RESULT_UNSTORABLE")
    return Raised(failure, permanent=True)


def _is_flat(value: Any) -> bool:
    """An object of plain values: what most handlers return."""
    return type(value) is dict and _PLAIN.issuperset(map(type, value.values())) and _TEXT.issuperset(map(type, value))


def _plain(value: Any) -> Any:
    """A result as JSON has it: models, dates and the like in their usual form; keys must be text already."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is dict:
        return {key: _plain(item) for key, item in value.items()}
    if kind in _LISTS:
        return [_plain(item) for item in value]
    return to_jsonable_python(value, inf_nan_mode="constants")


def outcome_of(error: BaseException, definition: Definition) -> Outcome:
    """The outcome of an error that a handler raised."""
    match error:
        case Snooze(seconds=seconds):
            return Snoozed(max(0, int(seconds * 1000)))
        case Retry(after=after):
            return Raised(failure_of(error), after_ms=None if after is None else max(0, int(after * 1000)))
        case AwaitAuth(reason=reason, url=url, key=key, expires=seconds):
            return Parked(reason, url, key, int(seconds * 1000))
        case Permanent() | PayloadError():
            return Raised(failure_of(error), permanent=True)
        case _:
            return Raised(failure_of(error), permanent=isinstance(error, definition.policy.permanent))
