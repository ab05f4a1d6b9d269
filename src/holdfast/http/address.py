"""Where the door listens: a loopback address, taken before anything else is started. Needs no library of the door."""

from __future__ import annotations

import socket
from importlib.util import find_spec

from holdfast.model.errors import BadInput, HoldfastError, install

HOST = "127.0.0.1"
PORT = 8321
LIBRARIES = ("starlette", "uvicorn", "sse_starlette", "jinja2", "prometheus_client")  # of the extra `http`
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_BACKLOG = 2_048


def listen(host: str, port: int, *, chosen_by: str = "--port") -> socket.socket:
    """A socket that is bound and listens, so that whoever prints its address tells the truth.

    `chosen_by` is what the caller's users choose another port with.
    """
    check_host(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = (error.strerror or "it cannot be bound").lower()
        raise HoldfastError(
            "CANNOT_LISTEN",
            f"port {port} of {host}: {reason}; end what uses it, or choose another with {chosen_by}",
        ) from None


def check_host(host: str) -> None:
    """Refuse an address that others could reach: until the door has keys, it is for this machine alone."""
    if host not in _LOOPBACK:
        raise BadInput(
            "BAD_OPTION",
            f"host {host[:100]!a} would let others in, and this door has no keys yet: use 127.0.0.1, or put a proxy "
            "that asks for a password in front of it",
        )


def check_libraries() -> None:
    """Refuse to begin where the extra is not installed."""
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise BadInput("BAD_OPTION", f"the HTTP door needs {', '.join(missing)}: {install('http')}")


def shown(listener: socket.socket) -> str:
    """The address as a browser takes it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
