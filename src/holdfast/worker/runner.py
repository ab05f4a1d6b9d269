"""Turns everything that can happen to a run into exactly one outcome."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError, to_json

from holdfast.model.errors import AwaitAuth, PayloadError, Permanent, Retry, Snooze
from holdfast.model.failure import Failure, failure_of
from holdfast.model.outcome import Abandoned, Outcome, Raised, Returned, Snoozed
from holdfast.model.payload import admit
from holdfast.worker.context import JobContext

if TYPE_CHECKING:
    from holdfast.engine.desk import Desk
    from holdfast.engine.registry import Definition
    from holdfast.model.lease import Claim


async def run(claim: Claim, definition: Definition, desk: Desk) -> Outcome:
    """Run a job's handler to its end, whatever that is."""
    context = JobContext(claim, desk)
    try:
        arguments = definition.signature.load(claim.payload)
    except PayloadError as error:
        return Raised(failure_of(error), permanent=True)
    if definition.signature.context_name is not None:
        arguments[definition.signature.context_name] = context
    timeout_ms = claim.timeout_ms or definition.policy.timeout_ms
    limit = asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000)
    try:
        async with limit:
            if inspect.iscoroutinefunction(definition.function):
                value = await definition.function(**arguments)
            else:
                value = await asyncio.to_thread(definition.function, **arguments)
    except TimeoutError as error:
        if limit.expired():
            context.stop()
            return Raised(Failure("TimeoutError", f"ran past its time-out of {timeout_ms} ms", "TIMEOUT"))
        return outcome_of(error, definition)
    except Exception as error:  # noqa: BLE001  # whatever a handler raises is its outcome
        return outcome_of(error, definition)
    return returned(value)


def returned(value: Any) -> Outcome:
    """The outcome of a value that a handler returned."""
    if value is None:
        return Returned(None)
    try:
        return Returned(admit(to_json(value, inf_nan_mode="constants").decode(), what="result"))
    except (PydanticSerializationError, PayloadError, ValueError) as error:
        return Raised(
            Failure(type(error).__name__, f"result cannot be stored: {error}", "RESULT_UNSTORABLE"),
            permanent=True,
        )


def outcome_of(error: BaseException, definition: Definition) -> Outcome:
    """The outcome of an error that a handler raised."""
    match error:
        case Snooze(seconds=seconds):
            return Snoozed(max(0, int(seconds * 1000)))
        case Retry(after=after):
            return Raised(failure_of(error), after_ms=None if after is None else max(0, int(after * 1000)))
        case Permanent() | AwaitAuth():
            return Raised(failure_of(error), permanent=True)
        case asyncio.CancelledError():
            return Abandoned()
        case _:
            return Raised(failure_of(error), permanent=isinstance(error, definition.policy.permanent))
