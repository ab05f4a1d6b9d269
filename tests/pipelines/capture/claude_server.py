"""A server that speaks the Messages protocol on real sockets: it answers as it is told, and counts who came."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, str], bytes | Iterable[bytes]]
KEY = "sk-test-Zq7wXv31LmNoPq52RsTu"


class Server(ThreadingHTTPServer):
    """`answer` is called with each request's body; `requests` holds them, with headers."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answer: Callable[[dict[str, Any]], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.connections = 0
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.released = threading.Event()  # what an answer may wait for, so that none outlives the test

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def get_request(self) -> Any:
        self.connections += 1
        return super().get_request()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the test."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert self.path == "/v1/messages"
        self.server.requests.append(({name.lower(): value for name, value in self.headers.items()}, body))
        status, headers, content = self.server.answer(body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for part in [content] if isinstance(content, bytes) else content:
            self.wfile.write(part)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Reply]) -> Iterable[Server]:
    server = Server(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def said(value: Any, *, given: int = 1_000, answered: int = 100, **changes: Any) -> Reply:
    """A good answer: a message whose text is this value in JSON."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": given, "output_tokens": answered},
    }
    return raw(json.dumps(body | changes).encode())


def raw(content: bytes | Iterable[bytes], status: int = 200, **headers: str) -> Reply:
    return status, {"content-type": "application/json"} | {n.replace("_", "-"): v for n, v in headers.items()}, content


def error(status: int, **headers: str) -> Reply:
    body = {"type": "error", "error": {"type": "some_error", "message": "words of the server"}}
    return raw(json.dumps(body).encode(), status, **headers)


def finding(quote: str, category: str = "PERSON_NAME", confidence: float = 0.95) -> dict[str, Any]:
    return {"category": category, "quote": quote, "confidence": confidence}


def findings(*quotes: str) -> Reply:
    return said({"findings": [finding(quote) for quote in quotes]})


def environment(folder: Any, url: str, **changes: str) -> dict[str, str]:
    """Claude switched on, at that server, with a key."""
    given = {
        "HOLDFAST_CAPTURE_FOLDER": str(folder),
        "HOLDFAST_CAPTURE_PROVIDER": "claude",
        "HOLDFAST_CAPTURE_ANTHROPIC_KEY": "THE_TEST_KEY",
        "HOLDFAST_CAPTURE_CLAUDE_URL": url,
        "THE_TEST_KEY": KEY,
    }
    return given | changes
