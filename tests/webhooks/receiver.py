"""A receiver on loopback that answers as it is told: well, slowly, endlessly or not at all."""

from __future__ import annotations

import hashlib
import hmac
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

CERTIFICATES = Path(__file__).parent / "certificates"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Script = Callable[[socket.socket], None]


class Request(NamedTuple):
    line: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """Answers each request with the next of its `answers`, the last one for ever; keeps what it was sent."""

    def __init__(self, *answers: bytes | Script, host: str = "127.0.0.1", port: int = 0, secure: bool = False) -> None:
        self.answers = list(answers) or [OK]
        self.requests: list[Request] = []
        self.names: list[str | None] = []  # asked for in the TLS handshake
        self.connections = 0
        self._tls = self._context() if secure else None
        self._listener = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=64
        )
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATES / "receiver.pem")
        context.sni_callback = lambda _socket, name, _context: self.names.append(name)
        return context

    def _serve(self) -> None:
        helpers = []
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # shut down
                break
            self.connections += 1
            helper = threading.Thread(target=self._answer, args=(connection,))
            helper.start()
            helpers.append(helper)
        for helper in helpers:
            helper.join()

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(10)
        with suppress(OSError), connection:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
                self.requests.append(read_request(connection))
                if callable(answer):
                    answer(connection)
                else:
                    connection.sendall(answer)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()


def status(code: int, *headers: str) -> bytes:
    lines = (f"HTTP/1.1 {code} X", *headers, "Content-Length: 0", "", "")
    return "\r\n".join(lines).encode()


def verify_signature(secret, body_bytes, signature_header):
    """The receiver's snippet of the passport source, letter for letter."""
    expected = hmac.new(secret.encode(), body_bytes, hashlib.sha256).hexdigest()
    provided = signature_header.removeprefix("sha256=")
    return hmac.compare_digest(expected, provided)


def read_request(connection: socket.socket) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        if not (piece := connection.recv(65_536)):
            raise ConnectionError("the request has no end")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    line, *fields = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65_536)
    return Request(line, headers, body)


@contextmanager
def receiving(*answers: bytes | Script, **settings) -> Iterator[Receiver]:
    receiver = Receiver(*answers, **settings)
    try:
        yield receiver
    finally:
        receiver.close()
