"""Signals over a network: a thread of its own tells; ears have theirs.

What is told goes out after the commit and outside of it, many commits in one message under load, so that no enqueue
waits for it and no database-wide lock is held by it. A lone commit may carry its own word, where the store passes on
what is told: `word` makes it, as often as this thread would tell.

Failure cases: the server is away, lost or silent: said once in the log, tried again with growing pauses. What could not
be told is kept, as one word for everything when it grows, and told when the server is back: until then the others poll.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from time import monotonic
from typing import TYPE_CHECKING

from holdfast.model.news import News
from holdfast.signals.ear import RelayEar
from holdfast.signals.message import merge, pack
from holdfast.signals.network import Line, Network, Trouble, hang_up
from holdfast.signals.pace import GATHER, Pace

if TYPE_CHECKING:
    from collections.abc import Callable

EARLY = (0.02, 0.1, 0.5, 2.0, 8.0)  # seconds after an enqueue on a caller's own connection
PATIENT = 1.0  # second for what will hardly wake anybody
KEEP = 2.0  # between two looks at a line on which nothing is sent
FLUSH_SECONDS = 1.0  # how long the end of a process may wait for its last message


class RelaySignal:
    """The promises of the port, over a network."""

    def __init__(self, network: Network, folder: Callable[[], str]) -> None:
        self._network = network
        self.name = network.name
        self.folder = folder
        self._thread: threading.Thread | None = None
        self._pending, self._early = News(), News()
        self._again: list[float] = []  # when to tell the early news again, and what has time
        self._hurry = self._later = False  # there is something to tell at once, or soon
        self._begin()
        _at_fork(self)

    def tell(self, news: News) -> None:
        """Tell the others what a commit changed: soon, by a thread that does nothing else."""
        if news.told:
            return
        with self._lock:
            merge(self._pending, news)
            first = news.patient and not self._later
            if first:
                self._later = True
                self._again = sorted([*self._again, monotonic() + PATIENT])
            self._hurry = self._hurry or not news.patient
            self._have_thread()
        if first or not news.patient:
            self._told.set()

    @property
    def word(self) -> Callable[[News], str | None] | None:
        """Who makes words to go out with a commit, where the server that stores jobs is the one that passes them on."""
        return self._word if self._network.stores_jobs else None

    def tell_early(self, news: News) -> None:
        """Tell of what its caller has yet to commit, which nobody tells us: again and again, for a while."""
        now = monotonic()
        with self._lock:
            merge(self._early, news)
            self._again = sorted({*self._again[:1], *(now + seconds for seconds in EARLY)})
            self._have_thread()
        self._told.set()

    def listen(self, name: str) -> RelayEar:
        """An ear of this process."""
        return RelayEar(self._network, name)

    def forget(self, name: str) -> None:
        """An ear leaves nothing behind: its connection dies with its process."""

    def close(self) -> None:
        """Send what is still to be told, if the server takes it soon, and hang up."""
        thread = self._thread
        if thread is not None:
            with self._lock:  # what was told early is committed by now, or never
                merge(self._pending, self._early)
                self._again, self._early = [], News()
            self._over = True
            self._ending.set()
            self._told.set()
            thread.join(FLUSH_SECONDS)

    def _begin(self) -> None:
        """As new: also in a forked child, where the thread stayed behind and the lock may be held by nobody."""
        self._lock = threading.Lock()
        self._told = threading.Event()
        self._ending = threading.Event()
        self._pending, self._early = News(), News()
        self._again = []
        self._thread = None
        self._over = self._hurry = self._later = self._flushes_at_exit = False
        self._words, self._word_at = Pace(), 0.0

    def _word(self, news: News) -> str | None:
        """A message for the caller to send; none where it is one of a burst, which go together."""
        now = monotonic()
        with self._lock:
            if self._pending or now < self._word_at:
                return None
            self._word_at = self._words.next_one(now, GATHER)
        return pack(news).decode()

    def _tell_while_needed(self) -> None:
        line: Line | None = None
        trouble = Trouble(self._network.name, "nothing can be told to other processes, which poll instead")
        pace, next_one = Pace(), 0.0
        while not self._ended():
            if not self._awaited():
                line = _kept(line)
                continue
            if not self._over:  # the first ones go at once, those of a burst together
                self._sleep(next_one)
            self._told.clear()
            news = self._take()
            if not news:
                continue
            try:
                begun, was = monotonic(), line
                line = self._send(line, pack(news))
                now = monotonic()
                next_one = pace.next_one(now, pace.after(now - begun) if line is was else GATHER)  # a new line is slow
                trouble.over()
            except Exception as error:  # noqa: BLE001  # a driver may raise anything; this thread must not die of it
                line = None
                self._rest(trouble.pause(error), news)
        hang_up(line)

    def _have_thread(self) -> None:
        if self._thread is not None:
            return
        self._over = False
        self._ending.clear()
        thread = threading.Thread(target=self._tell_while_needed, name="holdfast-teller", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter ends, or there are too many: the others find it by polling
            return
        self._thread = thread
        if not self._flushes_at_exit:
            self._flushes_at_exit = True
            _at_exit(self)

    def _awaited(self) -> bool:
        """Wait for something to tell; False if there was nothing for a while."""
        due = self._again[0] if self._again else float("inf")
        if self._told.wait(min(KEEP, max(0.0, due - monotonic()))) and (self._hurry or self._over):
            return True
        with self._lock:
            if not self._hurry:  # what was told has time, until the first of its times has come
                self._told.clear()
            due = self._again[0] if self._again else float("inf")
            if monotonic() < due:
                return self._hurry
            self._again = [at for at in self._again if at > monotonic()]
            merge(self._pending, self._early)
            if not self._again:
                self._early = News()
        return True

    def _ended(self) -> bool:
        """Whether to leave; decided under the lock, so that whoever tells next starts another thread."""
        with self._lock:
            if not self._over or self._pending:
                return False
            self._thread = None
            return True

    def _take(self) -> News:
        with self._lock:
            news, self._pending = self._pending, News()
            self._hurry = self._later = False
        return news

    def _send(self, line: Line | None, message: bytes) -> Line:
        """Over the line there is; where that was cut since its last use, over a new one."""
        if line is not None:
            try:
                line.send(message)
            except Exception:  # noqa: BLE001  # cut, or worse: the next line tells what is wrong
                hang_up(line)
            else:
                return line
        line = self._network.connect(hear=False)
        try:
            line.send(message)
        except BaseException:
            hang_up(line)
            raise
        return line

    def _rest(self, seconds: float, untold: News) -> None:
        """Before the next try. At the end of the process there is none: the others find it by polling."""
        self._sleep(monotonic() + seconds)
        if not self._over:
            with self._lock:
                merge(self._pending, untold)
                self._hurry = True
            self._told.set()

    def _sleep(self, until: float) -> None:
        """Until then, or until the end of the process."""
        left = until - monotonic()
        if left > 0:
            self._ending.wait(left)


def _kept(line: Line | None) -> Line | None:
    """The line after a look at it; none if it is gone."""
    if line is None:
        return None
    try:
        line.keep()
    except Exception:  # noqa: BLE001  # it is gone: the next message gets a new one
        hang_up(line)
        return None
    return line


def _at_fork(signal: RelaySignal) -> None:
    begin = weakref.WeakMethod(signal._begin)  # noqa: SLF001
    os.register_at_fork(after_in_child=lambda: _call(begin))


def _at_exit(signal: RelaySignal) -> None:
    """The last message of a process that ends without `close()`."""
    close = weakref.WeakMethod(signal.close)
    atexit.register(lambda: _call(close))
    if "multiprocessing.util" in sys.modules:  # its children leave without `atexit`, but not without this
        from multiprocessing.util import Finalize  # noqa: PLC0415

        Finalize(None, _call, (close,), exitpriority=0)


def _call(method: weakref.WeakMethod[Callable[[], None]]) -> None:
    found = method()
    if found is not None:
        found()
