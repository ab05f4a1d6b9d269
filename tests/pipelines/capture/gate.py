"""A gate before a server: it sees every request, and may answer it itself, before or after the server has."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import NamedTuple
from urllib.parse import urlsplit


class Passing(NamedTuple):
    """A request: what it asks for, whether the server has done it already, and then its answer."""

    what: str
    done: bool
    answer: bytes = b""


class Answer(NamedTuple):
    """What the gate says in the server's place; the body may be one that is made while it is sent."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    repeat: int = 1


Rule = Callable[[Passing], Answer | None]


class Gate:
    """Listens on a port of its own; `rule` judges what passes, `passed` is all that did."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.rule: Rule = lambda _: None
        self.passed: list[str] = []
        self._lock = Lock()
        gate = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                gate._serve(self)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def count(self, what: str) -> int:
        return self.passed.count(what)

    def _serve(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        what = _what(request.path, body)
        with self._lock:
            self.passed.append(what)
        try:
            answer = self.rule(Passing(what, done=False)) or self._forward(request, body, what)
            request.send_response(answer.status)
            for name, value in answer.headers:
                request.send_header(name, value)
            request.send_header("Content-Length", str(len(answer.body) * answer.repeat))
            request.end_headers()
            for _ in range(answer.repeat):
                request.wfile.write(answer.body)
        except OSError:  # whoever asked is gone
            return

    def _forward(self, request: BaseHTTPRequestHandler, body: bytes, what: str) -> Answer:
        kind = {"Content-Type": request.headers.get("Content-Type", "")}
        forwarded = urllib.request.Request(self.target + request.path, body, kind)  # noqa: S310
        try:
            with urllib.request.urlopen(forwarded, timeout=20) as got:  # noqa: S310
                answer = Answer(got.status, got.read())
        except urllib.error.HTTPError as error:
            with error:
                answer = Answer(error.code, error.read())
        return self.rule(Passing(what, done=True, answer=answer.body)) or answer


def _what(path: str, body: bytes) -> str:
    if path.startswith("/api/v0/"):
        return urlsplit(path).path.removeprefix("/api/v0/")
    return str(json.loads(body)["method"])
