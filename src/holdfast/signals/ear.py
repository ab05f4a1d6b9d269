"""An ear over a network: a thread that keeps the connection and rings a pipe.

Failure cases: the server is away or lost (said once, tried again with growing pauses); it lets nothing through, as a
pooler does with LISTEN, or falls silent without hanging up (the ear sends itself a probe at the start, and whenever it
has heard nothing for half a minute: `proven` says whether the last one came back; all ears hear it, so of many only one
has to send); it floods (a bounded number of messages at a time, with rests that grow with the work); it lies (whatever
it says is at most a reason to look).

Whenever something may have been missed, the ear asks for a look at everything: when it is connected, and when it is no
longer proven, so that whoever rests long because of it wakes and polls.
"""

from __future__ import annotations

import contextlib
import os
import threading
from random import uniform
from secrets import token_hex
from time import monotonic, sleep, thread_time
from typing import TYPE_CHECKING

from holdfast.model.news import News
from holdfast.signals.message import is_probe, merge, probe, unpack
from holdfast.signals.network import Line, Network, NotThrough, Trouble, hang_up, log
from holdfast.signals.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

WAIT = 0.25  # an ear that is closed is gone after so long
HELPING = 256  # messages at a time
REST = 0.01  # between two helpings, in the long run
RESTS_PER_WORK = 3.0  # a flood gets a quarter of a core, whatever its rate
RING_EVERY = 0.1  # in a flood, whose every message is the same reason to look
PROBE_SECONDS = 3.0  # for a probe to come back
PROBE_EVERY = 30.0
SPREAD = 1.2
_STEP = 0.001
_GONE_SECONDS = 1.0


class RelayEar:
    """Hears through a thread; `fileno()` is the end of a pipe."""

    fetch: Callable[[], bool] | None = None
    patience = 30.0  # a query costs a round trip, and is one of many hosts'

    def __init__(self, network: Network, name: str) -> None:
        self._network = network
        self.proven = self._doubted = False
        self._news = News()
        self._lock = threading.Lock()
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._over = threading.Event()
        self._trouble = Trouble(network.name, "nothing is heard from other processes; polling instead")
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

    def doubt(self) -> None:
        """What cut off the store may have cut this line, too, and nobody at its other end can say so: a probe tells."""
        self._doubted, self.proven = True, False

    def close(self) -> None:
        """Hear no more. A thread that waits for a server that does not answer is left to end by itself."""
        if self._over.is_set():
            return
        self._over.set()
        self._thread.join(_GONE_SECONDS)
        with self._lock:
            self.proven = False
            os.close(self._read)
            os.close(self._write)
            self._write = -1

    def _hear(self) -> None:
        while not self._over.is_set():
            line = None
            try:
                line = self._network.connect(hear=True)
                self._look_everywhere()
                self._hear_on(line)
            except Exception as error:  # noqa: BLE001  # a driver may raise anything; an ear must not go deaf of it
                pause = self._trouble.pause(error)
                self._doubt()
                hang_up(line)
                self._over.wait(pause)
            else:
                hang_up(line)

    def _hear_on(self, line: Line) -> None:
        probes = _Probes(self._network)
        pace, rung = Pace(), 0.0
        while not self._over.is_set():
            if self._doubted:
                self._doubted = False
                probes.hurry()
            probes.send_if_due()
            worked = thread_time()
            messages = line.receive(min(WAIT, probes.due_in()), HELPING)
            if self.proven and messages:
                probes.put_off()
            if probes.came_back(messages):
                self.proven = True
                self._trouble.over()
            elif probes.overdue():
                self._lost_one(probes)
            self._heed([unpack(message) for message in messages if not is_probe(message)])
            if self._news and (len(messages) < HELPING or monotonic() - rung > RING_EVERY):
                rung = monotonic()
                self._ring()
            if messages:
                now = monotonic()
                sleep(max(pace.next_one(now, REST) - now, RESTS_PER_WORK * (thread_time() - worked)))

    def _heed(self, heard: list[News]) -> None:
        if self.fetch is None or not any(news.queues for news in heard) or not self.fetch():
            self._keep(heard)

    def _lost_one(self, probes: _Probes) -> None:
        """A line that worked is dead; one that never did has something in between, and hanging up would not help."""
        if self.proven or probes.came:
            raise NotThrough
        if probes.sent == 1:
            log.warning(
                "%s: a probe did not come back, so signals do not get through; polling instead. %s",
                self._network.name, self._network.suspect,
            )  # fmt: skip

    def _doubt(self) -> None:
        if self.proven:
            self.proven = False
            self._look_everywhere()

    def _look_everywhere(self) -> None:
        self._keep([News.of_everything()])
        self._ring()

    def _keep(self, heard: Iterable[News]) -> None:
        with self._lock:
            for news in heard:
                merge(self._news, news)

    def _ring(self) -> None:
        with self._lock:
            if self._write >= 0:
                with contextlib.suppress(BlockingIOError):  # rung so often that nobody can have missed it
                    os.write(self._write, b"!")


class _Probes:
    """Messages to oneself, by a connection of their own: over the ear's own one they would prove nothing."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._next = 0.0
        self._late = float("inf")
        self._mark = b""
        self.sent, self.came = 0, False

    def send_if_due(self) -> None:
        now = monotonic()
        if now < self._next:
            return
        self.put_off()
        self._late = now + PROBE_SECONDS
        self._mark = probe(token_hex(8))
        self.sent += 1
        line = self._network.connect(hear=False)
        try:
            line.send(self._mark)
        finally:
            hang_up(line)

    def due_in(self) -> float:
        """Seconds until the next one. Ears that look up in step would else find it due at the same instant."""
        return max(_STEP, self._next - monotonic())

    def put_off(self) -> None:
        """Something is heard, be it another's probe. Spread, so that of many ears one is the first."""
        self._next = monotonic() + PROBE_EVERY * uniform(1, SPREAD)

    def came_back(self, messages: list[bytes]) -> bool:
        if self._mark not in messages:
            return False
        self._late = float("inf")
        self.came = True
        return True

    def hurry(self) -> None:
        """Send the next one now; the last one counts no more."""
        self._next, self._mark = 0.0, b""

    def overdue(self) -> bool:
        """Whether the last one is lost; said once."""
        if monotonic() < self._late:
            return False
        self._late = float("inf")
        return True
