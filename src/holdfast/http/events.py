"""Server-sent events: one look at the house, shared by all who watch.

While anybody listens, one task looks: soon after a commit of this process, and once a second for what others changed.
It tells only what differs from the last time, at most four times a second, and rests ten times as long as a look took,
so that watching a large house costs it at most a tenth of one core. A client that reads slowly skips pictures.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

from holdfast.http.problems import Problem, of_error
from holdfast.model.errors import HoldfastError
from holdfast.model.news import News

SHORTEST_PAUSE, LONGEST_PAUSE = 0.25, 1.0
MOST_LISTENING = 100
_REST = 10


class Told(NamedTuple):
    """An event as clients get it: `picture`, or `trouble` while the store is away."""

    event: str
    data: str


class Broadcaster:
    """Looks while somebody listens, and tells everybody."""

    def __init__(self, look: Callable[[], Awaitable[str]], listeners: list[Callable[[News], None]]) -> None:
        self._look = look
        self._listeners = listeners
        self._listening = 0
        self._latest: Told | None = None
        self._number = 0
        self._next = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def check_room(self) -> None:
        """Refuse one client too many while its answer has not begun."""
        if self._listening >= MOST_LISTENING:
            raise Problem("TOO_MANY_WAITING", f"{MOST_LISTENING} clients listen already: close a page you do not need")

    async def listen(self) -> AsyncIterator[dict[str, str]]:
        """The latest picture at once, then each new one."""
        self._listening += 1
        try:
            if self._task is None or self._task.done():
                self._latest = None  # it is as old as the last client
                self._task = asyncio.create_task(self._run())
            seen = -1
            while not self._closed:
                following = self._next
                if self._latest is None or seen == self._number:
                    await following.wait()
                    continue
                seen = self._number
                yield {"event": self._latest.event, "data": self._latest.data}
        finally:
            self._listening -= 1

    def close(self) -> None:
        """Tell every client that this is the end."""
        self._closed = True
        self._wake_clients()
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        heard = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hear(_: News) -> None:
            # Called by whichever thread committed, often: it must cost next to nothing.
            if not heard.is_set():
                with suppress(RuntimeError):  # the loop was closed: nobody listens any more
                    loop.call_soon_threadsafe(heard.set)

        self._listeners.append(hear)
        try:
            while self._listening:
                heard.clear()  # before the look: a commit that lands during it must make us look again
                began = monotonic()
                self._tell(await self._see())
                await asyncio.sleep(max(SHORTEST_PAUSE, _REST * (monotonic() - began)))
                await _until(heard, LONGEST_PAUSE - SHORTEST_PAUSE)
        finally:
            self._listeners.remove(hear)

    async def _see(self) -> Told:
        try:
            return Told("picture", await self._look())
        except HoldfastError as error:
            problem = of_error(error)
            return Told("trouble", json.dumps({"code": problem.code, "detail": problem.detail}))

    def _tell(self, told: Told) -> None:
        if told != self._latest:
            self._latest = told
            self._number += 1
            self._wake_clients()

    def _wake_clients(self) -> None:
        following, self._next = self._next, asyncio.Event()
        following.set()


async def _until(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
