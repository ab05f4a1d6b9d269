"""One request to one host that was configured: bounded in time and size, never redirected, never through a proxy.

What can go wrong has three names. Unreachable: nobody there, or too busy, and worth another try. Refused: the host said
no. Garbled: an answer that cannot be what was asked for. Their texts name the host alone: an address may hold a key.
"""

from __future__ import annotations

import json
import socket
import ssl
from base64 import b64encode
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Event, Timer
from typing import Any
from urllib.parse import unquote, urlsplit

LARGEST = 1024 * 1024  # bytes of an answer
PATIENCE = 15.0  # seconds for a whole request
_OK = 200
_BUSY = 429
_BROKEN = 500
_CHUNK = 65_536
_MOST_NESTED = 2_000


class BadAddress(ValueError):
    """The address cannot be used; the text says what is needed."""


class Unreachable(Exception):
    """No answer, or none that counts: the host may be back later."""

    def __init__(self, text: str, body: bytes = b"") -> None:
        super().__init__(text)
        self.body = body


class Refused(Exception):
    """The host answered, and said no."""

    def __init__(self, text: str, body: bytes = b"") -> None:
        super().__init__(text)
        self.body = body


class Garbled(Exception):
    """The host's answer is not what was asked for."""


class Host:
    """A host to talk to; `name` is what may be shown of its address."""

    def __init__(self, address: str, *, patience: float = PATIENCE, largest: int = LARGEST) -> None:
        try:
            parts = urlsplit(address)
            port = parts.port
        except ValueError as error:
            raise BadAddress("write http:// or https://, a host and perhaps a port") from error
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.fragment:
            raise BadAddress("write http:// or https://, a host and perhaps a port")
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, port or (443 if self._secure else 80)
        self._path, self._query = parts.path.rstrip("/"), parts.query
        self._headers = {"Accept": "application/json", "User-Agent": "holdfast", "Connection": "close"}
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        self._patience, self._largest = patience, largest
        self.name = f"{parts.scheme}://{self._host}:{self._port}"

    def post(self, path: str, body: bytes, content_type: str) -> bytes:
        """The body of a good answer."""
        connection = self._connection()
        # The socket's own time-out starts anew with every byte: a host that drips must not hold us for ever.
        late = Event()
        guard = Timer(self._patience, _cut, (connection, late))
        guard.daemon = True
        guard.start()
        try:
            target = f"{self._path}{path}" or "/"
            if self._query:
                target += f"{'&' if '?' in target else '?'}{self._query}"
            connection.request("POST", target, body, self._headers | {"Content-Type": content_type})
            answer = connection.getresponse()
            body = self._read(answer)
            if late.is_set():  # what was cut short can look like an answer
                raise TimeoutError
            return self._judged(answer.status, body)
        except OSError as error:
            raise Unreachable(f"{self.name} gives no answer ({_kind(error)})") from None
        except HTTPException as error:
            if type(error).__name__ == "IncompleteRead":
                raise Unreachable(f"{self.name} broke off its answer") from None
            raise Garbled(f"{self.name} does not speak HTTP") from None
        finally:
            guard.cancel()
            connection.close()

    def _connection(self) -> HTTPConnection:
        if self._secure:
            context = ssl.create_default_context()
            return HTTPSConnection(self._host, self._port, timeout=self._patience, context=context)
        return HTTPConnection(self._host, self._port, timeout=self._patience)

    def _read(self, answer: HTTPResponse) -> bytes:
        taken = b""
        while len(taken) <= self._largest:
            part = answer.read(_CHUNK)
            if not part and answer.length:  # bytes that were promised
                raise Unreachable(f"{self.name} broke off its answer")
            if not part:
                return taken
            taken += part
        raise Garbled(f"{self.name} sent more than {self._largest} bytes")

    def _judged(self, status: int, body: bytes) -> bytes:
        if status == _OK:
            return body
        if status == _BUSY or status >= _BROKEN:
            raise Unreachable(f"{self.name} cannot answer now (HTTP {status})", body)
        raise Refused(f"{self.name} refused the request (HTTP {status})", body)


def parsed(answer: bytes) -> Any:
    """What a JSON text says; ValueError if it is none."""
    # The limit on recursion is no help: a library that is loaded may have raised it over what the stack can bear.
    if answer.count(b"[") + answer.count(b"{") > _MOST_NESTED:
        raise ValueError("nested too deeply")
    return json.loads(answer)


def _cut(connection: HTTPConnection, late: Event) -> None:
    late.set()
    if connection.sock is not None:
        try:
            connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


def _kind(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "its name is not known"
    if isinstance(error, TimeoutError):
        return "time-out"
    if isinstance(error, ssl.SSLError):
        return "no trusted certificate"
    return error.strerror or type(error).__name__
