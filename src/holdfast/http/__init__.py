"""The HTTP door: a JSON API, health, metrics and a live overview page.

It holds no rules: it parses, calls the engine and renders. `create_http_app` gives an ASGI application to mount or to
serve; `serve` runs one on this machine's own address. The names are loaded when first used: who only wants the address
(`holdfast up`) needs none of the libraries behind them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.http.server import Server as Server
    from holdfast.http.server import serve as serve
    from holdfast.http.server import server_for as server_for
    from holdfast.http.site import create_http_app as create_http_app

_HOMES = {
    "Server": "holdfast.http.server",
    "create_http_app": "holdfast.http.site",
    "serve": "holdfast.http.server",
    "server_for": "holdfast.http.server",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'holdfast.http' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
