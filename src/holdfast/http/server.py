"""Serve the site with uvicorn, to this machine alone."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn

from holdfast.app import App
from holdfast.http.site import create_http_app
from holdfast.model.errors import BadInput

HOST = "127.0.0.1"
PORT = 8321
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(app: App, host: str = HOST, port: int = PORT) -> None:
    """Serve until a signal ends it. Only loopback addresses are taken until the door has keys."""
    server_for(app, host, port).run()


def server_for(app: App, host: str = HOST, port: int = PORT, **options: Any) -> Server:
    """A server that is ready to run; `options` go to `create_http_app`."""
    if host not in _LOOPBACK:
        raise BadInput(
            "BAD_OPTION",
            f"host {host[:100]!a} would let others in, and this door has no keys yet: use 127.0.0.1, or put a proxy "
            "that asks for a password in front of it",
        )
    site = create_http_app(app, **options)
    return Server(
        uvicorn.Config(
            site,
            host=host,
            port=port,
            http="h11",
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

    def __init__(self, config: uvicorn.Config, close: Any) -> None:
        super().__init__(config)
        self._close = close

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop."""
        self._close()
        await super().shutdown(sockets)

    @property
    def address(self) -> str:
        """Where it listens, once it has started."""
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
