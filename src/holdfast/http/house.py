"""The house over HTTP: queues, workers, figures, health, metrics, events and the overview page."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from sse_starlette import EventSourceResponse
from starlette.responses import HTMLResponse, Response

from holdfast.engine import queues as house
from holdfast.http import verbs
from holdfast.http.door import Call
from holdfast.http.jobs import ACTOR
from holdfast.http.problems import Problem
from holdfast.model.status import MEANINGS
from holdfast.store.port import Transaction

_READY_SECONDS = 2.0
_PING_SECONDS = 15
_SEND_SECONDS = 30.0


async def list_queues(call: Call) -> Any:
    return {"items": await call.app.desk.aread(house.queues)}


async def pause_queue(call: Call) -> Any:
    return await call.app.desk.awrite(house.pause, call.part("name"), ACTOR)


async def resume_queue(call: Call) -> Any:
    return await call.app.desk.awrite(house.resume, call.part("name"))


async def show_statistics(call: Call) -> Any:
    return await call.app.desk.aread(verbs.figures)


async def list_workers(call: Call) -> Any:
    return {"items": await call.app.desk.aread(house.workers)}


async def stream_events(call: Call) -> Response:
    broadcaster = call.door.broadcaster
    broadcaster.check_room()
    return EventSourceResponse(broadcaster.listen(), ping=_PING_SECONDS, send_timeout=_SEND_SECONDS, sep="\n")


async def live(_: Call) -> Any:
    """That this is answered is the answer: the event loop turns."""
    return {"status": "ok"}


async def ready(call: Call) -> Any:
    """The store answers; where it is required, the signal gets through."""
    try:
        async with asyncio.timeout(_READY_SECONDS):
            await call.app.desk.aread(_ask)
    except TimeoutError:
        raise Problem("NOT_READY", f"the store did not answer within {_READY_SECONDS:g} s") from None
    if call.door.require_signal and not await call.door.hears(_READY_SECONDS):
        raise Problem("NOT_READY", "the signal is not proven: what other processes tell does not get through")
    return {"status": "ok"}


async def show_metrics(call: Call) -> Response:
    text, media_type = await call.door.metrics.render(call.request.headers.get("accept", ""))
    return Response(text, headers={"Content-Type": media_type})


async def show_overview(call: Call) -> Response:
    page = _pages().get_template("overview.html")
    root = call.request.scope.get("root_path", "")
    return HTMLResponse(page.render(root=root, statuses=MEANINGS, url=call.request.url_for("overview")))


@cache
def _pages() -> Environment:
    return Environment(
        loader=PackageLoader("holdfast.http"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _ask(tx: Transaction) -> int:
    return tx.depth("default", 1)
