"""Serve the site with uvicorn, to this machine alone."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from holdfast.app import App
from holdfast.http.address import HOST, PORT, check_host, listen, shown
from holdfast.http.patience import REQUEST_SECONDS, protocol_with
from holdfast.http.site import create_http_app


def serve(
    app: App,
    host: str = HOST,
    port: int = PORT,
    *,
    listener: socket.socket | None = None,
    announce: Callable[[str], object] | None = None,
    **options: Any,
) -> None:
    """Serve until SIGTERM or SIGINT ends it. Only loopback addresses are taken until the door has keys.

    `listener` is a socket that listens already; `announce` is told the address once it can be used;
    `options` go to `create_http_app`.
    """
    server = server_for(app, host, port, **options)
    taken = listener or listen(host, port)
    if announce is not None:
        server.announce = lambda: announce(shown(taken))
    server.run(sockets=[taken])


def server_for(
    app: App, host: str = HOST, port: int = PORT, *, request_seconds: float = REQUEST_SECONDS, **options: Any
) -> Server:
    """A server that is ready to run; `options` go to `create_http_app`."""
    check_host(host)
    site = create_http_app(app, **options)
    return Server(
        uvicorn.Config(
            site,
            host=host,
            port=port,
            http=protocol_with(request_seconds),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=2_000,
            timeout_graceful_shutdown=5,
        ),
        close=site.state.door.close,
    )


class Server(uvicorn.Server):
    """Ends long polls and event streams when it is told to stop, so that stopping takes no longer than it must."""

    def __init__(self, config: uvicorn.Config, close: Callable[[], object]) -> None:
        super().__init__(config)
        self._close = close
        self.announce: Callable[[], object] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so: from here on a request is answered and a signal is heeded."""
        await super().startup(sockets)
        self.announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        self._close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal to stop is an ordinary end; raised again, as uvicorn does, it would look like a death."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @property
    def address(self) -> str:
        """Where it listens, once it has started."""
        return shown(self.servers[0].sockets[0]).rstrip("/")
