"""What all requests of one site share: the application, the broadcaster, the cached figures, and the end of it all."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from time import monotonic
from typing import Any

from starlette.requests import Request

from holdfast.app import App
from holdfast.engine.watch import Subject
from holdfast.http import verbs
from holdfast.http.body import BODY_LIMIT, BODY_SECONDS
from holdfast.http.events import Broadcaster
from holdfast.http.metrics import Metrics
from holdfast.http.problems import Problem
from holdfast.signals.port import Ear

MOST_WAITING = 1_000
_PROOF_STEP = 0.05


class Door:
    """One site in front of one application."""

    def __init__(
        self,
        app: App,
        *,
        body_limit: int = BODY_LIMIT,
        body_seconds: float = BODY_SECONDS,
        require_signal: bool = False,
    ) -> None:
        self.app = app
        self.body_limit = body_limit
        self.body_seconds = body_seconds
        self.broadcaster = Broadcaster(self._picture, app.desk.listeners)
        self.metrics = Metrics(app)
        self.require_signal = require_signal
        self._ear: Ear | None = None
        self._waiting: set[asyncio.Task[Any]] = set()
        self._closed = False

    async def wait_for_change(self, request: Request, subject: Subject, since: int | str, seconds: float) -> None:
        """Until a job or group is past the version `since`, its time is over, the client is gone or the site closes."""
        if len(self._waiting) >= MOST_WAITING:
            raise Problem("TOO_MANY_WAITING", f"{MOST_WAITING} requests wait for changes already: try again shortly")
        if self._closed:
            return
        change = asyncio.ensure_future(self.app.watch.await_change(subject, since, seconds))
        gone = asyncio.ensure_future(_until_gone(request))
        self._waiting.add(change)
        try:
            await asyncio.wait({change, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting.discard(change)
            for task in (change, gone):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def hears(self, seconds: float) -> bool:
        """Whether what other processes tell gets through; an ear that was just opened is given so long to prove it."""
        if self._ear is None:
            self._ear = self.app.signal.listen(f"ready-{os.getpid()}-{token_hex(4)}")
        self._ear.receive()  # only its proof is of interest
        end = monotonic() + seconds
        while not self._ear.proven and monotonic() < end and not self._closed:  # noqa: ASYNC110  # a thread proves it
            await asyncio.sleep(_PROOF_STEP)
        return self._ear.proven

    def close(self) -> None:
        """End every wait and every stream, so that a server can stop at once."""
        self._closed = True
        for task in self._waiting:
            task.cancel()
        self.broadcaster.close()
        if self._ear is not None:
            self._ear.close()

    async def _picture(self) -> str:
        return json.dumps(await self.app.desk.aread(verbs.picture), ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request that has passed every check of its shape."""

    door: Door
    request: Request
    query: Any = None
    body: Any = field(default=None)

    @property
    def app(self) -> App:
        """The application behind the door."""
        return self.door.app

    def part(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
