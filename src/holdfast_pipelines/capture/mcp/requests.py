"""Lines of standard input, before the SDK sees them: it says nothing to what it cannot read, and a client would wait.

What is no request gets the error that JSON-RPC asks for. Nothing of it is repeated but its id.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
from anyio.to_thread import run_sync
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import BinaryIO

LONGEST = 10_000_000  # bytes of a line


class Requests:
    """The lines that can be handed on, one by one; the others are answered here."""

    def __init__(self, source: BinaryIO, longest: int = LONGEST) -> None:
        self._source = source
        self._longest = longest
        self._answers: Any = None
        self._begun = anyio.Event()

    def begin(self, answers: Any) -> None:
        """Where answers go."""
        self._answers = answers
        self._begun.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await run_sync(self._source.readline, self._longest + 1):
            wrong = fault(line) if len(line) <= self._longest else await self._skipped(line)
            if wrong is None:
                yield line.decode()
                continue
            await self._begun.wait()
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the client has gone
                await self._answers.send(SessionMessage(wrong))

    async def _skipped(self, line: bytes) -> JSONRPCError:
        """To the end of a line that nobody keeps."""
        while line and not line.endswith(b"\n"):
            line = await run_sync(self._source.readline, self._longest)
        return _error(None, INVALID_REQUEST, f"a line has {self._longest} bytes at most")


def fault(line: bytes) -> JSONRPCError | None:
    """What is wrong with a line, as an answer; None if the SDK can read it, or if nobody expects an answer."""
    try:
        asked = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None if not line.strip() else _error(None, PARSE_ERROR, "the line is not JSON in UTF-8")
    if not isinstance(asked, dict):
        return _error(None, INVALID_REQUEST, "a line is one object: batches are not taken")
    if "method" not in asked and asked.keys() & {"result", "error"}:
        return None  # an answer, which is never answered
    name = asked.get("id")
    if "id" in asked and not (isinstance(name, str) or type(name) is int):
        return _error(None, INVALID_REQUEST, "an id is a text or a whole number")
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        if "id" not in asked and asked.get("jsonrpc") == "2.0" and isinstance(asked.get("method"), str):
            return None  # a notification, which is never answered
        form = 'a request is {"jsonrpc": "2.0", "id": ..., "method": "...", "params": {...}}'
        return _error(name, INVALID_REQUEST, form)
    return None


def _error(name: Any, code: int, text: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=name, error=ErrorData(code=code, message=text))
