"""What is wrong, for programs and for people: RFC 9457 problem details with a stable code.

Errors of the engine are translated here, in one table, and nowhere else.
"""

from __future__ import annotations

import logging
import secrets
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.model.errors import CODES, BadInput, Conflict, HoldfastError, NotFound, QueueFull, StoreError

log = logging.getLogger("holdfast.http")

MEDIA_TYPE = "application/problem+json"

# Codes of this door alone; those of the engine stand in holdfast.model.errors.
HTTP_CODES: dict[str, tuple[int, str]] = {
    "WRONG_HOST": (421, "the request was made for another host name"),
    "CROSS_SITE": (403, "the request was made by a page of another site"),
    "NO_SUCH_PATH": (404, "there is nothing at this path"),
    "METHOD_NOT_ALLOWED": (405, "this path does not take that method"),
    "BODY_TOO_LARGE": (413, "the body is over the size limit"),
    "BODY_TOO_SLOW": (408, "the body did not arrive in time"),
    "NOT_JSON_CONTENT": (415, "the body is not declared as plain JSON"),
    "TOO_MANY_WAITING": (503, "too many clients wait for changes already"),
    "NOT_READY": (503, "the store did not answer in time, or a signal that is required does not get through"),
    "HTTP_ERROR": (400, "the request cannot be served"),
    "INTERNAL_ERROR": (500, "something went wrong here; the server's log has more under this id"),
}

_STATUS_BY_CODE = {"PAYLOAD_TOO_LARGE": 413, "STORE_FULL": 507, "STORE_FORBIDDEN": 403}
_STATUS_BY_CLASS: tuple[tuple[type[HoldfastError], int], ...] = (
    (BadInput, 400),
    (NotFound, 404),
    (Conflict, 409),
    (QueueFull, 429),
    (StoreError, 503),
)
_RETRY_AFTER = {429: "5", 503: "1"}


class Problem(Exception):  # RFC 9457's word for it
    """An answer that ends the request; raised anywhere in this door."""

    def __init__(self, code: str, detail: str, *, status: int | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.status = status if status is not None else HTTP_CODES[code][0]
        self.headers: dict[str, str] = more.pop("headers", {})
        self.more = more

    def response(self) -> Response:
        """The problem as an answer."""
        known = HTTP_CODES.get(self.code)
        content = {
            "type": f"urn:holdfast:problem:{self.code.lower().replace('_', '-')}",
            "title": known[1] if known else CODES.get(self.code, self.code),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        headers = dict(self.headers)
        if self.status in _RETRY_AFTER:
            headers.setdefault("Retry-After", _RETRY_AFTER[self.status])
        return JSONResponse(content | self.more, self.status, headers, media_type=MEDIA_TYPE)


def of_error(error: HoldfastError) -> Problem:
    """What an error of the engine means over HTTP."""
    status = next((status for kind, status in _STATUS_BY_CLASS if isinstance(error, kind)), None)
    if status is None:
        return unexpected(error)
    detail = str(error)
    if isinstance(error, StoreError):
        # The message may name files of this machine: it goes to the log, not to the caller.
        log.error("the store refused a request: %s: %s", error.code, error)
        detail = f"{CODES.get(error.code, error.code)}; the server's log has more"
    return Problem(error.code, detail, status=_STATUS_BY_CODE.get(error.code, status))


def unexpected(error: BaseException) -> Problem:
    """What a caller hears of an error nobody foresaw: an id to look for in the log."""
    mark = secrets.token_hex(8)
    log.error("request failed, id %s", mark, exc_info=error)
    return Problem("INTERNAL_ERROR", f"the request failed; its id is {mark}", id=mark)


async def on_problem(_: Request, error: Exception) -> Response:
    """Render a problem raised in this door."""
    assert isinstance(error, Problem), "registered for this class alone"
    return error.response()


async def on_engine_error(_: Request, error: Exception) -> Response:
    """Render an error of the engine."""
    assert isinstance(error, HoldfastError), "registered for this class alone"
    return of_error(error).response()


async def on_http_error(request: Request, error: Exception) -> Response:
    """Render what the router refuses."""
    assert isinstance(error, HTTPException), "registered for this class alone"
    headers = dict(error.headers or {})
    if error.status_code == HTTP_CODES["NO_SUCH_PATH"][0]:
        return Problem("NO_SUCH_PATH", "there is nothing at this path; GET /openapi.json lists all").response()
    if error.status_code == HTTP_CODES["METHOD_NOT_ALLOWED"][0]:
        allowed = headers.get("Allow", "")
        return Problem(
            "METHOD_NOT_ALLOWED", f"{request.method[:20]} does not go here; use {allowed}", headers=headers
        ).response()
    return Problem("HTTP_ERROR", "the request cannot be served", status=error.status_code, headers=headers).response()
