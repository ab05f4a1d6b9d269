"""A real server on a free port in front of a real SQLite file, and a plain client."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from holdfast.app import App
from holdfast.engine import leases
from holdfast.http import server_for
from holdfast.model.failure import Failure
from holdfast.model.lease import Claim, Lane
from holdfast.model.outcome import Outcome, Raised, Returned
from holdfast.store.port import Order
from tests.patience import wait_for


class Reply(NamedTuple):
    """An answer, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Site:
    """A running site: its application, and ways to speak to it."""

    def __init__(self, app: App, port: int) -> None:
        self.app = app
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = 15,
    ) -> Reply:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def get(self, path: str, **more: Any) -> Reply:
        return self.send("GET", path, **more)

    def post(self, path: str, value: Any = None, **more: Any) -> Reply:
        headers = {"Content-Type": "application/json"} | more.pop("headers", {})
        body = None if value is None else json.dumps(value).encode()
        return self.send("POST", path, body, headers, **more)

    def raw(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    @contextmanager
    def events(self) -> Iterator[Iterator[tuple[float, str, Any]]]:
        """An open event stream: when each event came, its name, its data."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", "/v1/events")
        response = connection.getresponse()
        assert response.status == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        try:
            yield _events(response)
        finally:
            response.close()
            connection.close()

    # -- what workers do

    def claim(self, kind: str, queue: str = "default") -> list[Claim]:
        order = Order("host:1:test", [Lane(queue, kind, 1)], 1, 60_000)
        return self.app.desk.write(leases.claim, order)

    def finish(self, claim: Claim, outcome: Outcome) -> None:
        assert self.app.desk.write(leases.finish, [(claim, outcome)]) == [True]

    def complete(self, kind: str, result: Any = None) -> str:
        (claim,) = self.claim(kind)
        self.finish(claim, Returned(json.dumps(result)))
        return claim.id

    def fail(self, kind: str, *, permanent: bool = False, message: str = "it broke") -> str:
        (claim,) = self.claim(kind)
        self.finish(claim, Raised(Failure("ValueError", message), permanent=permanent, after_ms=None))
        return claim.id

    def dead(self, kind: str = "doomed", **options: Any) -> str:
        self.app.enqueue(kind, {}, max_attempts=1, **options)
        return self.fail(kind)


def _events(response: Any) -> Iterator[tuple[float, str, Any]]:
    name = ""
    for line in response:
        text = line.decode().rstrip("\n")
        if text.startswith("event: "):
            name = text.removeprefix("event: ")
        elif text.startswith("data: "):
            yield monotonic(), name, json.loads(text.removeprefix("data: "))


@contextmanager
def running_site(folder: Path, **options: Any) -> Iterator[Site]:
    """Serve from a thread of this process until the block ends."""
    settings = {name: options.pop(name) for name in ("max_depth", "payload_limit", "signal") if name in options}
    app = App(f"sqlite:///{folder / 'jobs.db'}?synchronous=normal", **settings)
    server = server_for(app, port=0, **options)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), name="server")
    thread.start()
    try:
        wait_for(lambda: server.started)
        yield Site(app, int(server.address.rpartition(":")[2]))
    finally:
        server.should_exit = True
        thread.join(10)
        app.close()
        assert not thread.is_alive(), "the server did not stop"
