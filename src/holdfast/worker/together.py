"""Runs several jobs by one call: handlers registered with `@app.job(batch=20)`.

Each job keeps its slot, its token and its outcome; the call takes one place. One whose lease is lost, or that is to
stop, only loses its own outcome: the call is stopped when that is true of all of them.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import PayloadError
from holdfast.model.failure import Failure
from holdfast.model.outcome import Outcome, Raised
from holdfast.worker import slots as slot_words
from holdfast.worker.places import MOST_READY, Places
from holdfast.worker.runner import Run, outcome_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from holdfast.engine.registry import Definition
    from holdfast.model.lease import Lane
    from holdfast.worker.slots import SlotMap


class Together(Places):
    """Places of another pool, for lanes whose jobs are taken many at a time."""

    __slots__ = ("base", "each", "open")

    def __init__(self, base: Places, lanes: Sequence[Lane], each: int) -> None:
        self.base = base
        self.each = each
        self.open: Call | None = None  # a call that waits for more jobs
        super().__init__(lanes, base.places, base.lease_ms, prefetch=0)
        base.sibling = self
        self.sibling = base

    @property
    def running(self) -> int:
        return self.base.running

    @running.setter
    def running(self, running: int) -> None:
        self.base.running = running

    @property
    def places(self) -> int:
        return self.base.places

    @places.setter
    def places(self, places: int) -> None:
        del places  # they are the base's

    def wanted(self) -> int:
        missing = 0 if self.open is None else self.open.missing
        return max(0, min(MOST_READY, self.free * self.each + missing) - len(self.ready))

    def joins(self) -> bool:
        return self.open is not None and self.ready[0][0].type == self.open.definition.type


class Call:
    """One call of a handler, and the runs it is made of."""

    __slots__ = ("definition", "members", "pool", "since", "started", "task")

    def __init__(self, definition: Definition, pool: Any, since: float) -> None:
        self.definition = definition
        self.pool = pool
        self.since = since
        self.started = False
        self.task: asyncio.Task[None] | None = None
        self.members: list[Member] = []

    @property
    def missing(self) -> int:
        """How many more jobs it could take."""
        return (self.definition.batch or 0) - len(self.members)

    def cancel(self) -> None:
        """Stop the call, if none of its runs goes on."""
        if self.task is not None and all(member.lost or member.verdict is not None for member in self.members):
            self.task.cancel()


class Member(Run):
    """One job of a call."""

    __slots__ = ("call", "stops_since")
    slots: SlotMap

    def __init__(self, call: Call, slots: SlotMap, *args: Any, **more: Any) -> None:
        self.call = call
        self.stops_since: float | None = None
        super().__init__(*args, **more)
        self.slots = slots
        self.task = _Share(self)  # type: ignore[assignment]

    def ask_to_stop(self) -> None:
        if self.lost:  # nobody waits for it any more, least of all the supervisor
            self.slots.enter(self.slot, slot_words.RETURNED)
        super().ask_to_stop()

    @property
    def stopping_since(self) -> float | None:
        """Since when the whole call should stop: alone, a member waits for the others."""
        sinces = [member.stops_since for member in self.call.members]
        return None if None in sinces else max(filter(None, sinces), default=None)

    @stopping_since.setter
    def stopping_since(self, since: float | None) -> None:
        if self.stops_since is None:
            self.stops_since = since


class _Share:
    """A member's part in the task of its call."""

    __slots__ = ("_member",)

    def __init__(self, member: Member) -> None:
        self._member = member

    def cancel(self) -> None:
        self._member.call.cancel()

    def get_coro(self) -> object:
        task = self._member.call.task
        return None if task is None else task.get_coro()


async def run_together(runs: Sequence[Run], executor: Executor | None = None) -> list[Outcome]:
    """Run a handler for several jobs at once: an outcome for each."""
    definition = runs[0].definition
    if definition.is_coroutine:
        return await _awaited(runs)
    context = contextvars.Context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(executor, context.run, call_together, runs)


def call_together(runs: Sequence[Run]) -> list[Outcome]:
    """The same for a plain function, here and now."""
    outcomes, fit, arguments = _prepared(runs)
    if not fit:
        return outcomes
    definition = runs[0].definition
    try:
        value = definition.function(**arguments)
        if inspect.isawaitable(value):
            value = asyncio.run(_await(value))
        for run in fit:
            if run.context is not None:
                run.context.flush()
        ended = _each(value, fit, definition)
    except BaseException as error:  # noqa: BLE001  # whatever a handler raises is their outcome, SystemExit too
        ended = [outcome_of(error, definition)] * len(fit)
    return _merged(runs, outcomes, fit, ended)


async def _awaited(runs: Sequence[Run]) -> list[Outcome]:
    outcomes, fit, arguments = _prepared(runs)
    if not fit:
        return outcomes
    definition = runs[0].definition
    try:
        value = await definition.function(**arguments)
        for run in fit:
            if run.context is not None:
                await run.context.aflush()
        ended = _each(value, fit, definition)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        ended = [outcome_of(error, definition)] * len(fit)
    except BaseException as error:  # noqa: BLE001
        ended = [outcome_of(error, definition)] * len(fit)
    return _merged(runs, outcomes, fit, ended)


def _prepared(runs: Sequence[Run]) -> tuple[list[Outcome], list[Run], dict[str, Any]]:
    """The runs whose payloads fit, and what the handler is called with; the outcome of a misfit is clear already."""
    definition = runs[0].definition
    signature = definition.signature
    items, fit, outcomes = [], [], []
    for run in runs:
        try:
            items.append(signature.load(run.claim.payload))
            fit.append(run)
        except PayloadError as error:
            outcomes.append(outcome_of(error, definition))
    arguments: dict[str, Any] = {signature.list_name: items}
    if signature.context_name is not None:
        arguments[signature.context_name] = [run.begin_context() for run in fit]
    return outcomes, fit, arguments


def _each(value: Any, runs: Sequence[Run], definition: Definition) -> list[Outcome]:
    """What a handler answered, one outcome for each job."""
    if not isinstance(value, list | tuple) or len(value) != len(runs):
        many = f"{len(value)}" if isinstance(value, list | tuple) else f"a {type(value).__name__}"
        text = f"a batch handler returns a list with one outcome for each of its {len(runs)} jobs, not {many}"
        return [Raised(Failure("WrongOutcomes", text))] * len(runs)
    return [
        outcome_of(one, definition) if isinstance(one, BaseException) else run.outcome_of(one)
        for run, one in zip(runs, value, strict=True)
    ]


def _merged(runs: Sequence[Run], misfits: list[Outcome], fit: Sequence[Run], ended: Sequence[Outcome]) -> list[Outcome]:
    of = dict(zip(map(id, fit), ended, strict=True))
    rest = iter(misfits)
    return [of[id(run)] if id(run) in of else next(rest) for run in runs]


async def _await(value: Any) -> Any:
    return await value
