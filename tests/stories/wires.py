"""The wire between one host and the server, which can be cut.

Where this user may make network namespaces, a host lives in one of its own behind a real link, and packets are lost;
elsewhere it is a process like any other, and a proxy on loopback loses its bytes. The proxy is there in both cases: it
alone can answer for a server that is reachable and refuses.
"""

from __future__ import annotations

import os
import selectors
import shutil
import socket
import struct
import subprocess
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

_PREFIX = "holdfast-story-"
_SUBNET = "169.254.201"  # stories take turns: nobody else has it now
_ROUND = 0.02  # seconds in which the proxy heeds an order


def namespaces_allowed() -> bool:
    """Whether a host can have a network of its own here."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    _sweep()
    tried = f"{_PREFIX}try"
    if subprocess.run(["ip", "netns", "add", tried], capture_output=True, check=False).returncode:
        return False
    _ip("netns", "delete", tried)
    return True


class Wire:
    """One host's way to the server. `prefix` starts a command at the host's end, `address` is the server from there."""

    def __init__(self, number: int, server: Path, *, namespace: bool) -> None:
        self._name = f"{_PREFIX}{number}" if namespace else None
        self._link = f"hfstory{number}"
        self._ours, self._theirs = (f"{_SUBNET}.{4 * number + end}" for end in (1, 2))
        self._server = server
        self._proxy: Proxy
        self._open = ExitStack()

    @property
    def prefix(self) -> list[str]:
        return ["ip", "netns", "exec", self._name] if self._name else []

    @property
    def address(self) -> tuple[str, int]:
        return self._proxy.address

    @property
    def kinds(self) -> tuple[str, ...]:
        """The ways in which it can be cut."""
        return ("cable out", "answers lost", "refused", "swallowed") if self._name else ("swallowed", "mute", "refused")

    def cut(self, kind: str) -> None:
        match kind:
            case "cable out":
                _ip("link", "set", "dev", self._link, "down")
            case "answers lost":
                _ip("route", "add", "blackhole", f"{self._theirs}/32")
            case _:
                self._proxy.order(kind)

    def heal(self, kind: str) -> None:
        match kind:
            case "cable out":
                _ip("link", "set", "dev", self._link, "up")
            case "answers lost":
                _ip("route", "delete", "blackhole", f"{self._theirs}/32")
            case _:
                self._proxy.order("pass")

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            if self._name:
                opening.callback(self._unplug, self._name)
                self._plug(self._name)
            self._proxy = opening.enter_context(Proxy(self._ours if self._name else "127.0.0.1", self._server))
            self._open = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _plug(self, name: str) -> None:
        there = f"{self._link}b"
        _ip("netns", "add", name)
        _ip("link", "add", self._link, "type", "veth", "peer", "name", there)
        _ip("link", "set", there, "netns", name)
        _ip("address", "add", f"{self._ours}/30", "dev", self._link)
        _ip("link", "set", "dev", self._link, "up")
        for words in (
            ["address", "add", f"{self._theirs}/30", "dev", there],
            ["link", "set", "dev", there, "up"],
            ["link", "set", "dev", "lo", "up"],
        ):
            _ip("-n", name, *words)

    def _unplug(self, name: str) -> None:
        with suppress(AssertionError):  # it may never have come so far, or been healed
            _ip("route", "delete", "blackhole", f"{self._theirs}/32")
        with suppress(AssertionError):
            _ip("netns", "delete", name)
        with suppress(AssertionError):  # the namespace takes its end of the link along, a little later
            _ip("link", "delete", self._link)


class Proxy:
    """Between a TCP address and the server's socket; ordered to pass, swallow, fall mute or refuse.

    A connection that lost bytes never works again, not even when all is well: no network leaves holes in a stream.
    """

    def __init__(self, host: str, server: Path) -> None:
        self._server = server
        self._listening = _listening(host, 0)
        self.address: tuple[str, int] = self._listening.getsockname()
        self._order = self._heeded = "pass"
        self._done = threading.Event()
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._callers: set[socket.socket] = set()
        self._silent: set[socket.socket] = set()  # ends whose bytes go nowhere
        self._watched = selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._serve)

    def order(self, order: str) -> None:
        """Returns when it is heeded."""
        self._order = order
        while self._heeded != order:
            assert self._thread.is_alive(), "the proxy has died"
            self._done.wait(_ROUND)

    def __enter__(self) -> Self:
        self._watched.register(self._listening, selectors.EVENT_READ)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._watched.close()
        for one in (self._listening, *self._pairs):
            one.close()

    def _serve(self) -> None:
        while not self._done.is_set():
            if self._heeded != self._order:
                self._heed(self._order)
            for key, _ in self._watched.select(_ROUND):
                self._step(key.fileobj)  # type: ignore[arg-type]

    def _heed(self, order: str) -> None:
        if order == "refused":
            self._watched.unregister(self._listening)
            self._listening.close()
            for caller in list(self._callers):
                self._hang_up(caller)
        elif self._heeded == "refused":
            self._listening = _listening(*self.address)
            self._watched.register(self._listening, selectors.EVENT_READ)
        for end in self._pairs:
            self._silence(end, order)
        self._heeded = order

    def _silence(self, end: socket.socket, order: str) -> None:
        if order == "swallowed" or (order == "mute" and end not in self._callers):
            self._silent.add(end)

    def _step(self, ready: socket.socket) -> None:
        if ready is self._listening:
            self._connect(ready.accept()[0])
            return
        if ready not in self._pairs:  # hung up in this round
            return
        try:
            data = ready.recv(65536)
            if data and ready not in self._silent:
                self._pairs[ready].sendall(data)
        except OSError:
            data = b""
        if not data:
            self._end(ready)

    def _connect(self, caller: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(self._server))
        self._callers.add(caller)
        self._pairs |= {caller: server, server: caller}
        for end in (caller, server):
            self._watched.register(end, selectors.EVENT_READ)
            self._silence(end, self._heeded)

    def _end(self, end: socket.socket) -> None:
        """One side is gone; the other learns of it, unless such news are lost, too."""
        self._watched.unregister(end)
        if end in self._silent:
            return
        with suppress(OSError):
            self._pairs[end].shutdown(socket.SHUT_WR)

    def _hang_up(self, caller: socket.socket) -> None:
        """By a reset."""
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for end in (caller, self._pairs[caller]):
            with suppress(KeyError):
                self._watched.unregister(end)
            del self._pairs[end]
            self._callers.discard(end)
            self._silent.discard(end)
            end.close()


def _listening(host: str, port: int) -> socket.socket:
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind((host, port))
    one.listen()
    return one


def _sweep() -> None:
    """Remove what a run left behind that was killed; none lives now, for we have the turn."""
    told = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout
    for name in [line.split()[0] for line in told.splitlines() if line.startswith(_PREFIX)]:
        _ip("netns", "delete", name)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
