"""Runs the server: on standard input and output, or over HTTP on this machine for those who have the token."""

from __future__ import annotations

import gc
import hmac
import signal
import socket
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import holdfast
from holdfast_pipelines.capture.mcp.companion import carried
from holdfast_pipelines.capture.mcp.registration import NAME
from holdfast_pipelines.capture.places import Places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast_pipelines.capture.mcp.door import Door

TOKEN = "HOLDFAST_CAPTURE_TOKEN"  # noqa: S105  # the name of a variable
_SHORTEST_TOKEN = 32
_LARGEST_REQUEST = 1024 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ADVICE = "`python -c 'import secrets; print(secrets.token_urlsafe(32))'` makes one"


def serve(environment: Mapping[str, str], *, http: str | None = None, worker: bool = True) -> None:
    """Serve until the client has gone, or over HTTP until a signal comes."""
    places = Places(environment)
    token = "" if http is None else _token(environment)
    listener = None if http is None else _listener(*_address(http))
    door = _built(places)
    if places.remark:
        _say(places.remark)
    with carried(places, environment) if worker else nullcontext():
        if listener is None:
            _serve_here(door)
        else:
            _serve_http(door, listener, token)


def _built(places: Places) -> Door:
    gc.disable()  # thousands of classes are made that stay: looking for garbage among them takes a fifth of the start
    try:
        from holdfast_pipelines.capture.mcp.tools import build  # noqa: PLC0415
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        raise holdfast.BadInput(
            "BAD_OPTION",
            f'{missing} is not installed: install the extra mcp, for example by pip install "/path/to/the/clone[mcp]"',
        ) from None
    finally:
        gc.freeze()
        gc.enable()
    return build(places)


def _serve_here(door: Door) -> None:
    # By default Python would wait for the thread that reads standard input, which only the client can end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.stdin.isatty():
        _say("a coding assistant talks to this command: make it known with `holdfast capture install --mcp`")
    door.run("stdio")


def _serve_http(door: Door, listener: socket.socket, token: str) -> None:
    import uvicorn  # noqa: PLC0415  # comes with mcp

    host, port = listener.getsockname()[:2]
    app = door.streamable_http_app(host=host, stateless_http=True, max_request_body_size=_LARGEST_REQUEST)
    shown = f"[{host}]" if ":" in host else host
    _say(f"http://{shown}:{port}/mcp, for those who send the token of {TOKEN}")
    config = uvicorn.Config(_Guarded(app, token), log_level="warning", timeout_graceful_shutdown=2)
    uvicorn.Server(config).run(sockets=[listener])


class _Guarded:
    """An application for those who bear the token. Who does not learns nothing, not even what is there."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan" or self._knows(scope):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": f"send the token of {TOKEN} as a bearer\n".encode()})

    def _knows(self, scope: Any) -> bool:
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._wanted)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not (port.isascii() and port.isdigit() and int(port) <= 65535):  # noqa: PLR2004
        raise holdfast.BadInput("BAD_OPTION", "--http takes HOST:PORT, as in 127.0.0.1:8322")
    if host not in _LOOPBACK:
        raise holdfast.BadInput("BAD_OPTION", f"--http serves this machine alone: give one of {', '.join(_LOOPBACK)}")
    return host, int(port)


def _listener(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise holdfast.BadInput(
            "CANNOT_LISTEN", f"{host}:{port}: {error.strerror}; give another port, or 0 for any that is free"
        ) from None


def _token(environment: Mapping[str, str]) -> str:
    token = environment.get(TOKEN, "")
    if len(token) < _SHORTEST_TOKEN or not (token.isascii() and token.isprintable()):
        raise holdfast.BadInput(
            "NO_SECRET", f"set {TOKEN} to a secret of at least {_SHORTEST_TOKEN} characters: {_ADVICE}"
        )
    return token


def _say(line: str) -> None:
    """To a person: standard output is for the protocol alone."""
    sys.stderr.write(f"{NAME}: {line}\n")
    sys.stderr.flush()
