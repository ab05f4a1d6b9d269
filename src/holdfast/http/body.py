"""Read a body without trusting its length, its speed, its type or its content."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from starlette.requests import ClientDisconnect, Request

from holdfast.http.problems import Problem
from holdfast.model.errors import PayloadError
from holdfast.model.payload import decode

BODY_LIMIT = 1024 * 1024
BODY_SECONDS = 10.0
_LINGER_BYTES = 4 * BODY_LIMIT
_LINGER_SECONDS = 1.0


async def read_json(request: Request, *, most: int = BODY_LIMIT, seconds: float = BODY_SECONDS) -> Any:
    """The value of the body's strict JSON; None if there is no body."""
    _check_type(request)
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > most:
        await _refuse_large(request.stream(), most)
    body = await _read(request, most, seconds)
    if not body:
        return None
    if "content-type" not in request.headers:
        raise Problem("NOT_JSON_CONTENT", "send the header Content-Type: application/json")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise PayloadError("PAYLOAD_NOT_JSON", "the body is not UTF-8 text") from None
    return decode(text, what="body", limit=most)


def _check_type(request: Request) -> None:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem("NOT_JSON_CONTENT", "send the body as it is: compressed bodies are not taken", headers=_CLOSE)
    given = request.headers.get("content-type")
    if given is None:
        return
    kind, _, parameters = given.lower().partition(";")
    if kind.strip() != "application/json" or parameters.strip() not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise Problem("NOT_JSON_CONTENT", "send JSON, with the header Content-Type: application/json", headers=_CLOSE)


async def _read(request: Request, most: int, seconds: float) -> bytes:
    chunks: list[bytes] = []
    size = 0
    stream = request.stream()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in stream:
                size += len(chunk)
                if size > most:
                    break
                chunks.append(chunk)
    except TimeoutError:
        raise Problem("BODY_TOO_SLOW", f"the body must arrive within {seconds:g} s", headers=_CLOSE) from None
    if size > most:
        await _refuse_large(stream, most)
    return b"".join(chunks)


async def _refuse_large(rest: AsyncIterator[bytes], most: int) -> None:
    """Take in and drop a little more first: closing on a client that still sends would cut off our answer."""
    dropped = 0
    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(_LINGER_SECONDS):
            async for chunk in rest:
                dropped += len(chunk)
                if dropped > _LINGER_BYTES:
                    break
    raise Problem("BODY_TOO_LARGE", f"a body has at most {most} bytes: send fewer jobs a call", headers=_CLOSE)


_CLOSE = {"Connection": "close"}
