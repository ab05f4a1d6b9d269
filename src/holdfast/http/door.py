"""What all requests of one site share: the application, the broadcaster, the cached figures, and the end of it all."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from holdfast.app import App
from holdfast.http import verbs
from holdfast.http.body import BODY_LIMIT, BODY_SECONDS
from holdfast.http.events import Broadcaster
from holdfast.http.metrics import Metrics
from holdfast.http.problems import Problem

MOST_WAITING = 1_000


class Door:
    """One site in front of one application."""

    def __init__(self, app: App, *, body_limit: int = BODY_LIMIT, body_seconds: float = BODY_SECONDS) -> None:
        self.app = app
        self.body_limit = body_limit
        self.body_seconds = body_seconds
        self.broadcaster = Broadcaster(self._picture, app.desk.listeners)
        self.metrics = Metrics(app)
        self._waiting: set[asyncio.Task[Any]] = set()
        self._closed = False

    async def wait_for_change(self, request: Request, job_id: str, since: int, seconds: float) -> None:
        """Until the job's version is past `since`, the time is over, the client has gone or the site closes."""
        if len(self._waiting) >= MOST_WAITING:
            raise Problem("TOO_MANY_WAITING", f"{MOST_WAITING} requests wait for changes already: try again shortly")
        if self._closed:
            return
        change = asyncio.ensure_future(self.app.watch.await_change(job_id, since, seconds))
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

    def close(self) -> None:
        """End every wait and every stream, so that a server can stop at once."""
        self._closed = True
        for task in self._waiting:
            task.cancel()
        self.broadcaster.close()

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
