"""Verbs are plain functions, yet a coroutine's connection must be awaited. Here the two walk in step.

The verb runs in a thread of its own. Each of its statements is handed back to the task that asked for the verb and is
awaited there, in the caller's own task and context, as if the caller had written it; then the thread goes on. At any
moment one of the two waits for the other, so the connection is never used twice at once.

Failure cases: an error of a statement is raised in the verb, at the statement. A cancelled task cancels the statement
under way, or the next one; the verb then undoes what it must, and only then is the cancellation raised: the caller gets
its connection back at rest. A task that is thrown away with its loop lets the thread go.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

R = TypeVar("R")


class Step:
    """The thread's side: `step(action)` awaits the action in the caller's task."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._gone = False
        self.actions: asyncio.Queue[Callable[[], Awaitable[Any]] | None] = asyncio.Queue()

    def __call__(self, action: Callable[[], Awaitable[Any]]) -> Any:
        if self._gone:
            raise asyncio.CancelledError
        self.say(action)
        value, error = self._answers.get()
        if error is not None:
            raise error
        return value

    def say(self, action: Callable[[], Awaitable[Any]] | None) -> None:
        """What the caller's task shall do next; None: nothing more."""
        self._loop.call_soon_threadsafe(self.actions.put_nowait, action)

    def answer(self, value: Any, error: BaseException | None = None) -> None:
        """Let the thread go on."""
        self._answers.put((value, error))

    def leave(self) -> None:
        """Nobody awaits anything any more."""
        self._gone = True
        self.answer(None, asyncio.CancelledError())


async def in_step(work: Callable[[Step], R]) -> R:
    """Run a plain function in a thread; what it gives to its `Step` is awaited here."""
    step = Step()
    end: list[R] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            end.append(work(step))
        except BaseException as error:  # noqa: BLE001  # the awaiting caller gets it
            errors.append(error)
        with suppress(RuntimeError):  # the loop was closed: nobody awaits this any more
            step.say(None)

    Thread(target=run, name="holdfast-join", daemon=True).start()
    try:
        cancelled = await _walk(step)
    finally:
        step.leave()
    for error in (*cancelled, *errors):
        raise error
    return end[0]


async def _walk(step: Step) -> list[asyncio.CancelledError]:
    """Await what the thread wants until it ends; answers a cancellation that came too late for any statement."""
    cancelled: list[asyncio.CancelledError] = []
    while True:
        try:
            action = await step.actions.get()
        except asyncio.CancelledError as error:  # the thread is between two statements: it is told at the next
            cancelled.append(error)
            continue
        if action is None:
            return cancelled
        if cancelled:
            step.answer(None, cancelled.pop())
            continue
        try:
            step.answer(await action())
        except GeneratorExit:
            raise
        except BaseException as error:  # noqa: BLE001  # the verb gets it, and hands it on
            step.answer(None, error)
