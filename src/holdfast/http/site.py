"""The site: the routing table, put behind the guard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from holdfast.app import App
from holdfast.http.body import BODY_LIMIT, BODY_SECONDS, read_json
from holdfast.http.door import Call, Door
from holdfast.http.guard import LOOPBACK, Guard
from holdfast.http.openapi import PATH, document
from holdfast.http.problems import Problem, on_engine_error, on_http_error, on_problem
from holdfast.http.shapes import Body, check, read_query
from holdfast.http.table import TABLE, Entry
from holdfast.model.errors import BadInput, HoldfastError

STATIC = Path(__file__).parent / "static"


def create_http_app(
    app: App,
    *,
    hosts: Collection[str] = LOOPBACK,
    body_limit: int = BODY_LIMIT,
    body_seconds: float = BODY_SECONDS,
    require_signal: bool = False,
) -> Starlette:
    """The door as an ASGI application, to serve or to mount.

    `hosts` are the host names it answers to; it has no keys yet, so they should mean this machine alone.
    With `require_signal` it is ready only while the signal is proven.
    """
    door = Door(app, body_limit=body_limit, body_seconds=body_seconds, require_signal=require_signal)
    site = Starlette(
        routes=routes(door),
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={
            Problem: on_problem,
            HoldfastError: on_engine_error,
            HTTPException: on_http_error,
        },
    )
    site.router.redirect_slashes = False  # a path that is not in the table is not there
    site.state.door = door
    return site


def routes(door: Door) -> list[BaseRoute]:
    """A route for each path of the table, the document, and the page's own files."""
    paths: dict[str, dict[str, Entry]] = {}
    for entry in TABLE:
        paths.setdefault(entry.path, {})[entry.method] = entry
    found: list[BaseRoute] = [_route(door, path, entries) for path, entries in paths.items()]
    return [
        *found,
        Route(PATH, _show_document, name="openapi"),
        Mount("/static", _Files(directory=STATIC), name="static"),
    ]


def _route(door: Door, path: str, entries: dict[str, Entry]) -> Route:
    """One route for all methods of a path, so that a refusal can name them all."""
    endpoints = {method: _endpoint(door, entry) for method, entry in entries.items()}

    async def answer(request: Request) -> Response:
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, answer, methods=list(endpoints), name=next(iter(entries.values())).name)


def _endpoint(door: Door, entry: Entry) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        query = None if entry.query is None else read_query(entry.query, request.query_params)
        body = None if entry.body is None else await _body(door, entry, request)
        value = await entry.run(Call(door=door, request=request, query=query, body=body))
        return value if isinstance(value, Response) else JSONResponse(value, entry.status)

    return answer


async def _body(door: Door, entry: Entry, request: Request) -> Body | list[Body]:
    assert entry.body is not None, "only asked of routes that take one"
    value: Any = await read_json(request, most=door.body_limit, seconds=door.body_seconds)
    if value is None:
        if entry.body_required:
            raise BadInput("BAD_OPTION", "there is no body: send a JSON object")
        value = {}
    if isinstance(value, list) and entry.most > 1:
        if len(value) > entry.most:
            raise BadInput(
                "BAD_OPTION", f"the list has {len(value)} items, {entry.most} is the most: send several lists"
            )
        return [check(entry.body, item, f"item {index} of the list") for index, item in enumerate(value)]
    return check(entry.body, value, "body")


async def _show_document(_: Request) -> Response:
    return JSONResponse(_document())


@cache
def _document() -> dict[str, Any]:
    return document(TABLE)


class _Files(StaticFiles):
    """The page's files; a browser asks each time whether they changed, so an upgrade shows at once."""

    def file_response(self, *args: Any, **more: Any) -> Response:
        response = super().file_response(*args, **more)
        response.headers["Cache-Control"] = "no-cache"
        return response
