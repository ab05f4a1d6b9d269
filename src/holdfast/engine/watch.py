"""Wait for the next visible change of a job.

One thread per process looks after every waiter: it is woken by the news of this process's commits (and by signals from
others), and looks by itself in growing intervals in case one was lost. Each look is one query for all waiters. A waiter
subscribes first and is checked afterwards, so a change in between cannot be missed.
"""

from __future__ import annotations

import os
import select
import threading
from collections import defaultdict
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.engine.desk import Desk
    from holdfast.model.news import News
    from holdfast.signals.port import Ear
    from holdfast.store.port import Transaction

SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
IDLE_EXIT = 5.0


class Bell:
    """An event that `select` can wait for."""

    def __init__(self) -> None:
        self._open()

    def fileno(self) -> int:
        """Readable after a ring."""
        return self._read

    def ring(self) -> None:
        """Wake whoever waits. A forked child has a bell of its own."""
        if self._pid != os.getpid():
            self._open()
        try:
            os.write(self._write, b"!")
        except BlockingIOError:  # rung so often that nobody can have missed it
            return

    def hush(self) -> None:
        """Forget past rings."""
        try:
            os.read(self._read, 65536)
        except BlockingIOError:
            return

    def _open(self) -> None:
        self._pid = os.getpid()
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __del__(self) -> None:
        os.close(self._read)
        os.close(self._write)


class Waiter:
    """One wait for one job to go past a version. `deliver` is called once, from the watching thread."""

    __slots__ = ("deliver", "job_id", "since")

    def __init__(self, job_id: str, since: int, deliver: Callable[[], object]) -> None:
        self.job_id = job_id
        self.since = since
        self.deliver = deliver


class Watch:
    """All waiters of a process."""

    def __init__(
        self,
        desk: Desk,
        listen: Callable[[], Ear | None] = lambda: None,
        versions: Callable[[Transaction, list[str]], dict[str, tuple[int, str]]] | None = None,
    ) -> None:
        self._versions = versions or _versions
        self._desk = desk
        self._listen = listen
        self._waiters: dict[str, set[Waiter]] = defaultdict(set)
        self._lock = threading.Lock()
        self._bell = Bell()
        self._thread: threading.Thread | None = None
        desk.listeners.append(self._heard)

    def wait(self, job_id: str, since: int, timeout: float) -> bool:
        """Block until the job's version is past `since`; False when the time is over first."""
        changed = threading.Event()
        waiter = self._subscribe(Waiter(job_id, since, changed.set))
        try:
            return changed.wait(timeout)
        finally:
            self._unsubscribe(waiter)

    async def await_change(self, job_id: str, since: int, timeout: float) -> bool:  # noqa: ASYNC109
        """Wait for the same without blocking the event loop."""
        import asyncio  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        changed = loop.create_future()
        waiter = self._subscribe(Waiter(job_id, since, lambda: loop.call_soon_threadsafe(_settle, changed)))
        try:
            await asyncio.wait_for(changed, timeout)
        except TimeoutError:
            return False
        else:
            return True
        finally:
            self._unsubscribe(waiter)

    def wake(self) -> None:
        """Look now: something may have changed elsewhere."""
        self._bell.ring()

    def _subscribe(self, waiter: Waiter) -> Waiter:
        with self._lock:
            self._waiters[waiter.job_id].add(waiter)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._look_after, name="holdfast-watch", daemon=True)
                self._thread.start()
        self._bell.ring()
        return waiter

    def _unsubscribe(self, waiter: Waiter) -> None:
        with self._lock:
            waiters = self._waiters.get(waiter.job_id)
            if waiters is not None:
                waiters.discard(waiter)
                if not waiters:
                    del self._waiters[waiter.job_id]

    def _heard(self, news: News) -> None:
        if self._waiters and not self._waiters.keys().isdisjoint(news.jobs):
            self._bell.ring()

    def _look_after(self) -> None:
        ear = self._listen()
        try:
            self._look_while_needed(ear)
        finally:
            if ear is not None:
                ear.close()

    def _look_while_needed(self, ear: Ear | None) -> None:
        pause, idle_since = SHORTEST_PAUSE, monotonic()
        while True:
            self._bell.hush()  # before the look: a signal that lands during it must wake us again
            with self._lock:
                ids = list(self._waiters)
                if not ids and monotonic() - idle_since > IDLE_EXIT:
                    self._thread = None
                    return
            if ids:
                idle_since = monotonic()
                pause = SHORTEST_PAUSE if self._look(ids) else min(pause * 1.5, LONGEST_PAUSE)
            if self._woken(ear, pause if ids else LONGEST_PAUSE):
                pause = SHORTEST_PAUSE

    def _woken(self, ear: Ear | None, pause: float) -> bool:
        """Wait for the bell, or for another process's news of a job that is waited for."""
        sources: list[Any] = [self._bell] if ear is None else [self._bell, ear]
        ready, _, _ = select.select(sources, [], [], pause)
        if ear is not None and ear in ready:
            jobs = ear.receive().jobs
            return self._bell in ready or "*" in jobs or not self._waiters.keys().isdisjoint(jobs)
        return bool(ready)

    def _tell_all(self) -> None:
        with self._lock:
            everyone = [waiter for waiters in self._waiters.values() for waiter in waiters]
            self._waiters.clear()
        _deliver(everyone)

    def _look(self, ids: list[str]) -> bool:
        try:
            versions = self._desk.read(self._versions, ids)
        except Exception as error:  # noqa: BLE001  # the store is away: they wait on, until their own time is over
            if isinstance(error, StoreError) and error.code == "STORE_CLOSED":
                self._tell_all()
            return False
        with self._lock:
            ready = [
                waiter
                for job_id in ids
                for waiter in self._waiters.get(job_id, ())
                if job_id not in versions or versions[job_id][0] > waiter.since  # one that is gone has changed, too
            ]
            for waiter in ready:
                self._waiters[waiter.job_id].discard(waiter)
        _deliver(ready)
        return bool(ready)


def _deliver(waiters: Iterable[Waiter]) -> None:
    for waiter in waiters:
        try:
            waiter.deliver()
        except RuntimeError:  # the loop it waited in was closed
            continue


def _versions(tx: Transaction, ids: list[str]) -> dict[str, tuple[int, str]]:
    return tx.versions(ids)


def _settle(future: Any) -> None:
    if not future.done():
        future.set_result(None)
