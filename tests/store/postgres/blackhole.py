"""A proxy before the server that can swallow everything without closing anything."""

from __future__ import annotations

import selectors
import socket
import threading

NAME = ".s.PGSQL.5432"


class Proxy:
    """Between a socket in a folder and the server that a connection leads to."""

    def __init__(self, connection, before):
        host, port = connection.info.host, connection.info.port
        self._behind = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)
        self._before = str(before / NAME)
        self._silent = threading.Event()
        self._done = threading.Event()
        self._pairs = {}
        self._callers = set()
        self._mute = set()

    def swallow(self):
        self._silent.set()

    def mute(self):
        """From now on the connections that are open bring no more answers; new ones do."""
        self._mute = set(self._pairs)

    def heal(self):
        self._silent.clear()

    def __enter__(self):
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(self._before)
        self._listening.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()
        for one in [self._listening, *self._pairs]:
            one.close()

    def _serve(self):
        with selectors.DefaultSelector() as watched:
            watched.register(self._listening, selectors.EVENT_READ)
            while not self._done.is_set():
                for key, _ in watched.select(0.05):
                    self._step(watched, key.fileobj)

    def _step(self, watched, ready):
        if ready is self._listening:
            caller, _ = ready.accept()
            server = socket.socket(socket.AF_UNIX if isinstance(self._behind, str) else socket.AF_INET)
            server.connect(self._behind)
            self._callers.add(caller)
            self._pairs |= {caller: server, server: caller}
            watched.register(caller, selectors.EVENT_READ)
            watched.register(server, selectors.EVENT_READ)
            return
        data = ready.recv(65536)
        if not data:
            watched.unregister(ready)
            return
        is_answer = ready not in self._callers
        if not self._silent.is_set() and not (is_answer and ready in self._mute):
            self._pairs[ready].sendall(data)
