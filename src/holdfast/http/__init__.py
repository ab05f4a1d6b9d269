"""The HTTP door: a JSON API, health, metrics and a live overview page.

It holds no rules: it parses, calls the engine and renders. `create_http_app` gives an ASGI application to mount or to
serve; `serve` runs one on this machine's own address.
"""

from holdfast.http.server import Server, serve, server_for
from holdfast.http.site import create_http_app

__all__ = ["Server", "create_http_app", "serve", "server_for"]
