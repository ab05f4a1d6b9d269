"""A proxy before a server: it can swallow everything without closing anything, cut everyone off, and refuse callers."""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import suppress
from typing import Any, Self


class Proxy:
    """On a port of its own, before a server's address: a path, or host and port."""

    def __init__(self, behind: str | tuple[str, int]) -> None:
        self._behind = behind
        self._silent = threading.Event()
        self._refusing = threading.Event()
        self._done = threading.Event()
        self._pairs: dict[socket.socket, socket.socket] = {}

    def swallow(self) -> None:
        self._silent.set()

    def refuse(self) -> None:
        """Hang up on everyone, and on whoever calls."""
        self._refusing.set()

    def heal(self) -> None:
        self._silent.clear()
        self._refusing.clear()

    def __enter__(self) -> Self:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        for one in [self._listening, *self._pairs]:
            one.close()

    def _serve(self) -> None:
        with selectors.DefaultSelector() as watched:
            watched.register(self._listening, selectors.EVENT_READ)
            while not self._done.is_set():
                if self._refusing.is_set():
                    for one in list(self._pairs):
                        self._drop(watched, one)
                for key, _ in watched.select(0.02):
                    with suppress(OSError):
                        self._step(watched, key.fileobj)

    def _step(self, watched: selectors.BaseSelector, ready: Any) -> None:
        if ready is self._listening:
            caller, _ = ready.accept()
            if self._refusing.is_set():
                caller.close()
                return
            server = self._connect()
            self._pairs |= {caller: server, server: caller}
            watched.register(caller, selectors.EVENT_READ)
            watched.register(server, selectors.EVENT_READ)
            return
        if ready not in self._pairs:  # dropped a moment ago
            return
        data = ready.recv(65536)
        if not data:
            self._drop(watched, ready)
        elif not self._silent.is_set():
            self._pairs[ready].sendall(data)

    def _drop(self, watched: selectors.BaseSelector, one: socket.socket) -> None:
        other = self._pairs.pop(one, None)
        for end in (one, other):
            if end is not None:
                self._pairs.pop(end, None)
                with suppress(KeyError, ValueError):
                    watched.unregister(end)
                end.close()

    def _connect(self) -> socket.socket:
        if isinstance(self._behind, str):
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._behind)
            return server
        return socket.create_connection(self._behind)
