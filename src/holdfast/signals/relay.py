"""Signals over a network: a thread of its own tells, and another one hears.

What is told goes out after the commit and outside of it, many commits in one message under load, so that no enqueue
waits for it and no database-wide lock is held by it. Failure cases: the server is away, is lost or lies (said once in
the log, tried again with growing pauses; meanwhile everyone polls); it lets nothing through (an ear hears its own
probe, or says that it does not); it floods (an ear takes a bounded number at a time and rests in between). After each
new connection the ear asks for a look, since anything may have been missed.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from secrets import token_hex
from time import monotonic, sleep
from typing import TYPE_CHECKING, Protocol

from holdfast.model.news import News

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger("holdfast.signals")

EVERYTHING = "*"
GATHER = 0.005  # seconds in which the commits of a burst become one message
REST = 0.01  # between two helpings of a flood
HELPING = 64
PROBE_SECONDS = 3.0
WAIT = 0.5  # an ear that is closed is gone after so long
FLUSH_SECONDS = 1.0
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
_MOST_NAMED = 16
_LARGEST = 4096


class Line(Protocol):
    """One connection to a server that passes messages on."""

    def send(self, message: bytes) -> None:
        """Pass a message on to everyone who hears."""

    def receive(self, seconds: float, most: int) -> list[bytes]:
        """What came, waiting at most so long for the first; raises when the connection is lost."""

    def close(self) -> None:
        """Hang up."""


class Network(Protocol):
    """A server that passes messages on."""

    name: str
    errors: tuple[type[Exception], ...]

    def connect(self, *, hear: bool) -> Line:
        """A new connection: one that hears, or one that only tells."""


class RelaySignal:
    """The promises of the port, over a network."""

    def __init__(self, network: Network, folder: Callable[[], str]) -> None:
        self._network = network
        self.folder = folder
        self._thread: threading.Thread | None = None
        self._start()

    def tell(self, news: News) -> None:
        """Tell the others what a commit changed: soon, by a thread that does nothing else."""
        if self._pid != os.getpid():  # threads stay behind at a fork
            self._start()
        with self._lock:
            self._pending.queues |= news.queues
            self._pending.jobs += news.jobs
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._tell_while_needed, name="holdfast-teller", daemon=True)
                self._thread.start()
        self._told.set()

    def listen(self, name: str) -> RelayEar:
        """An ear of this process."""
        return RelayEar(self._network, name)

    def forget(self, name: str) -> None:
        """An ear leaves nothing behind: its connection dies with its process."""

    def close(self) -> None:
        """Send what is still to be told, if the server takes it, and hang up."""
        thread = self._thread if self._pid == os.getpid() else None
        if thread is not None and thread.is_alive():
            self._over = True
            self._told.set()
            thread.join(FLUSH_SECONDS)

    def _start(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._told = threading.Event()
        self._pending = News()
        self._thread = None
        self._over = False

    def _tell_while_needed(self) -> None:
        line: Line | None = None
        trouble = _Trouble(f"{self._network.name}: nothing can be told to other processes, which poll instead")
        sent = 0.0
        while not (self._over and not self._pending):
            self._told.wait()
            if not self._over and monotonic() - sent < GATHER:  # the first goes at once, those of a burst together
                sleep(GATHER)
            self._told.clear()
            with self._lock:
                news, self._pending = self._pending, News()
            if not news:
                continue
            try:
                line = line or self._network.connect(hear=False)
                line.send(pack(news))
                sent = monotonic()
                trouble.over()
            except self._network.errors as error:
                _hang_up(line)
                line = None
                if self._over:
                    return
                sleep(trouble.pause(error))  # what was to be told is old news by then
        _hang_up(line)


class RelayEar:
    """Hears through a thread that keeps the connection; `fileno()` is the end of a pipe."""

    def __init__(self, network: Network, name: str) -> None:
        self._network = network
        self.proven = False
        self._news = News()
        self._lock = threading.Lock()
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._over = False
        self._thread = threading.Thread(target=self._hear, name=f"holdfast-ear-{name}"[:60], daemon=True)
        self._thread.start()

    def fileno(self) -> int:
        """Readable when there may be news."""
        return self._read

    def receive(self) -> News:
        """What was heard since the last time."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._read, 65536)
        with self._lock:
            news, self._news = self._news, News()
        return news

    def close(self) -> None:
        """Hear no more."""
        self._over = True
        self._thread.join(2 * WAIT + FLUSH_SECONDS)
        if not self._thread.is_alive():
            os.close(self._read)
            os.close(self._write)

    def _hear(self) -> None:
        trouble = _Trouble(f"{self._network.name}: nothing is heard from other processes; polling instead")
        while not self._over:
            line = None
            try:
                line = self._network.connect(hear=True)
                self._pass_on(News.of_everything())
                trouble.over()
                self._hear_on(line)
            except self._network.errors as error:
                self.proven = False
                end = monotonic() + trouble.pause(error)
                while monotonic() < end and not self._over:
                    sleep(0.05)
            finally:
                _hang_up(line)

    def _hear_on(self, line: Line) -> None:
        probe = f"probe {token_hex(8)}".encode()
        self._send_probe(probe)
        judged_at: float | None = monotonic() + PROBE_SECONDS
        while not self._over:
            messages = line.receive(WAIT, HELPING)
            if probe in messages:
                self.proven, judged_at = True, None
            if judged_at is not None and monotonic() > judged_at:
                judged_at = None
                log.warning(
                    "%s: a probe did not come back, so signals do not get through; is there a pooler in between? "
                    "Polling instead", self._network.name
                )  # fmt: skip
            heard = [unpack(message) for message in messages if not message.startswith(b"probe ")]
            if heard:
                self._pass_on(*heard)
            if len(messages) == HELPING:
                sleep(REST)

    def _send_probe(self, probe: bytes) -> None:
        line = self._network.connect(hear=False)
        try:
            line.send(probe)
        finally:
            line.close()

    def _pass_on(self, *heard: News) -> None:
        with self._lock:
            for news in heard:
                self._news.queues |= news.queues
                self._news.jobs += news.jobs
            if len(self._news.jobs) > _MOST_NAMED * HELPING:
                self._news.jobs = [EVERYTHING]
        try:
            os.write(self._write, b"!")
        except BlockingIOError:  # rung so often that nobody can have missed it
            return


class _Trouble:
    """Says once that something is wrong, once that it is over, and how long to rest before the next try."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pause = 0.0

    def pause(self, error: Exception) -> float:
        if not self._pause:
            log.warning("%s (%s)", self._text, type(error).__name__)
        self._pause = min(LONGEST_PAUSE, max(SHORTEST_PAUSE, self._pause * 2))
        return self._pause

    def over(self) -> None:
        if self._pause:
            log.warning("signals get through again")
        self._pause = 0.0


def _hang_up(line: Line | None) -> None:
    if line is None:
        return
    try:
        line.close()
    except Exception:  # noqa: BLE001  # it is gone either way
        return


def pack(news: News) -> bytes:
    """News as a message; long lists become one word for everything."""
    jobs = news.jobs if len(news.jobs) <= _MOST_NAMED else [EVERYTHING]
    queues = sorted(news.queues) if len(news.queues) <= _MOST_NAMED else [EVERYTHING]
    message = json.dumps({"job_id": jobs[0] if jobs else None, "queues": queues, "jobs": jobs}).encode()
    return message if len(message) <= _LARGEST else pack(News.of_everything())


def unpack(message: bytes) -> News:
    """What a message says; anyone may have sent it, so one that cannot be read is a reason to look everywhere."""
    news = News.of_everything()
    if len(message) > _LARGEST:
        return news
    try:
        said = json.loads(message)
        queues, jobs = said["queues"], said["jobs"]
        if not all(isinstance(name, str) for name in (*queues, *jobs)):
            return news
    except (ValueError, KeyError, TypeError, RecursionError):
        return news
    news.queues, news.jobs = set(queues), list(jobs)
    return news
