"""Who may speak to this door, and what every answer carries.

Until there are keys, the door trusts this machine alone, and a browser is the way strangers reach it: a page of
another site may send requests to 127.0.0.1 (so writes must come from our own pages or from no page at all), and a
name of a stranger's may be pointed at 127.0.0.1 (so only loopback names are answered).
"""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.http.problems import Problem, unexpected

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Stands around the whole site: nothing gets in or out without passing here."""

    def __init__(self, app: ASGIApp, hosts: Collection[str] = LOOPBACK) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                _add_headers(message)
            await send(message)

        try:
            problem = self._refusal(scope)
            target: ASGIApp = self._app if problem is None else problem.response()
            await target(scope, receive, send_with_headers)
        except ClientDisconnect:
            return  # nobody is left to answer
        except Exception as error:
            if begun:
                raise
            await unexpected(error).response()(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        named = headers.getlist("host")
        if len(named) != 1 or _without_port(named[0].lower()) not in self._hosts:
            return Problem("WRONG_HOST", "this server answers to 127.0.0.1, localhost and [::1] alone")
        if scope["method"] in SAFE_METHODS:
            return None
        # `same-site` is not enough: another port of localhost is the same site, and somebody else's page.
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return Problem("CROSS_SITE", "writes are taken from this server's own pages and from programs")
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"{scope['scheme']}://{named[0].lower()}":
            return Problem("CROSS_SITE", "the Origin header names another site than the Host header")
        return None


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and (port == "" or (port.isascii() and port.isdigit())) else host


def _add_headers(message: Message) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in SECURITY_HEADERS.items():
        headers[name] = value
    headers.setdefault("Cache-Control", "no-store")
