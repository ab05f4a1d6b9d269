"""Wait for the next visible change of a job, or of a group.

One thread per process looks after every waiter: it is woken by the news of this process's commits (and by signals from
others), and looks by itself in growing intervals in case one was lost. Each look is one query for all waiters. A waiter
subscribes first and is checked afterwards, so a change in between cannot be missed; what was read a moment ago serves
for all who come for the same.

To count a group means to read it all. So a group is read when something is heard of it, at most every 50 ms, less often
where that takes long, and once a second in case nothing is heard.
"""

from __future__ import annotations

import os
import select
import threading
from collections import defaultdict
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.engine.groups import versions as group_versions
from holdfast.engine.shared import SharedProgress
from holdfast.model.errors import StoreError
from holdfast.model.news import group_mark

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable

    from holdfast.engine.desk import Desk
    from holdfast.model.news import News
    from holdfast.signals.port import Ear
    from holdfast.store.port import Transaction

SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 1.0
IDLE_EXIT = 5.0
GROUP_PACE = 0.05  # seconds between two counts of one group
_REST, _LONG_REST = 3, 20  # times as long as the last count took: before the next, and before one that nobody asked for
_MOMENT = 0.05  # what was read so lately need not be read for one more waiter
_MOST_PACED = 1_000

Group = tuple[str, str]  # tenant, key
Subject = str | Group  # a job by its id, or a group


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
    """One wait for one subject to go past a version: told once, from the watching thread."""

    __slots__ = ("since", "subject", "tell", "where")

    def __init__(self, subject: Subject, since: int | str, tell: Any, where: asyncio.AbstractEventLoop | None) -> None:
        self.subject = subject
        self.since = since
        self.tell = tell  # what to call; or, with a loop, the future that waits there
        self.where = where

    def is_past(self, version: int | str | None) -> bool:
        """Whether this version is news: a job's grows, a group's is another; and what is gone has changed, too."""
        if version is None:
            return True
        if isinstance(self.since, int) and isinstance(version, int):
            return version > self.since
        return version != self.since


class Watch:
    """All waiters of a process."""

    def __init__(
        self,
        desk: Desk,
        listen: Callable[[], Ear | None] = lambda: None,
        versions: Callable[[Transaction, list[str], list[Group]], dict[Subject, int | str]] | None = None,
    ) -> None:
        self._versions = versions or _versions
        self._desk = desk
        self._listen = listen
        self._waiters: dict[Subject, set[Waiter]] = defaultdict(set)
        self._known: dict[Subject, tuple[int | str | None, float]] = {}  # of what is waited for: version, read when
        self._marks: dict[str, set[Group]] = defaultdict(set)  # the groups that are waited for, as news name them
        self._dirty: set[Group] = set()  # to be counted
        self._next_at: dict[Group, float] = {}  # not before
        self._all_at = 0.0  # when all groups are counted, unasked
        self._lock = threading.Lock()
        self._bell = Bell()
        self.groups = SharedProgress(desk)
        self._thread: threading.Thread | None = None
        desk.listeners.append(self._heard)

    def wait(self, subject: Subject, since: int | str, timeout: float) -> bool:
        """Block until the version of a job (its id) or a group (tenant, key) is past `since`; False: not in time."""
        changed = threading.Event()
        waiter = Waiter(subject, since, changed.set, None)
        if self._subscribe(waiter):
            return True
        try:
            return changed.wait(timeout)
        finally:
            self._unsubscribe(waiter)

    async def await_change(self, subject: Subject, since: int | str, timeout: float) -> bool:  # noqa: ASYNC109
        """Wait for the same without blocking the event loop."""
        import asyncio  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        changed: asyncio.Future[bool] = loop.create_future()
        waiter = Waiter(subject, since, changed, loop)
        if self._subscribe(waiter):
            return True
        late = loop.call_later(timeout, _settle, changed, False)  # noqa: FBT003
        told = False
        try:
            told = await changed
        finally:
            late.cancel()
            if not told:
                self._unsubscribe(waiter)
        return told

    def wake(self) -> None:
        """Look now: something may have changed elsewhere."""
        self._bell.ring()

    def _subscribe(self, waiter: Waiter) -> bool:
        """Let a waiter be told; True if there is news for it already."""
        subject = waiter.subject
        with self._lock:
            version, read_at = self._known.get(subject, (None, 0.0))
            is_fresh = monotonic() - read_at < _MOMENT
            if is_fresh and waiter.is_past(version):
                return True
            if isinstance(subject, tuple):
                self._marks[group_mark(*subject)].add(subject)
                if not is_fresh:
                    self._dirty.add(subject)
            self._waiters[subject].add(waiter)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._look_after, name="holdfast-watch", daemon=True)
                self._thread.start()
        if not is_fresh:
            self._bell.ring()
        return False

    def _unsubscribe(self, waiter: Waiter) -> None:
        with self._lock:
            waiters = self._waiters.get(waiter.subject)
            if waiters is not None:
                waiters.discard(waiter)
                if not waiters:
                    self._drop(waiter.subject)

    def _drop(self, subject: Subject) -> None:
        """Nobody waits for it any more."""
        del self._waiters[subject]
        self._known.pop(subject, None)
        if isinstance(subject, tuple):
            self._dirty.discard(subject)
            mark = group_mark(*subject)
            self._marks[mark].discard(subject)
            if not self._marks[mark]:
                del self._marks[mark]

    def _heard(self, news: News) -> None:
        if self._waiters and self._concerns(news):
            self._bell.ring()

    def _concerns(self, news: News) -> bool:
        """Whether news are of something that is waited for; groups among it are to be counted."""
        groups = False
        if news.groups and self._marks:
            with self._lock:
                marks = self._marks.keys() if "*" in news.groups else news.groups & self._marks.keys()
                for mark in marks:
                    self._dirty |= self._marks[mark]
                groups = bool(marks)
        return groups or "*" in news.jobs or not self._waiters.keys().isdisjoint(news.jobs)

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
                waited_for = bool(self._waiters)
                if not waited_for and monotonic() - idle_since > IDLE_EXIT:
                    self._thread = None
                    return
                jobs, groups = self._due(monotonic())
            if waited_for:
                idle_since = monotonic()
                pause = SHORTEST_PAUSE if self._look(jobs, groups) else min(pause * 1.5, LONGEST_PAUSE)
            if self._woken(ear, self._rest(pause) if waited_for else LONGEST_PAUSE):
                pause = SHORTEST_PAUSE

    def _due(self, now: float) -> tuple[list[str], list[Group]]:
        """What to look at: every job, and the groups whose turn it is."""
        jobs = [subject for subject in self._waiters if isinstance(subject, str)]
        if now >= self._all_at:
            self._all_at = now + LONGEST_PAUSE
            self._dirty.update(subject for subject in self._waiters if isinstance(subject, tuple))
        groups = [group for group in self._dirty if now >= self._next_at.get(group, 0.0)]
        self._dirty.difference_update(groups)  # before the look: what is heard during it is looked at again
        return jobs, groups

    def _rest(self, pause: float) -> float:
        """How long nothing is to be looked at."""
        with self._lock:
            if not self._marks:
                return pause
            turns = [self._next_at.get(group, 0.0) for group in self._dirty]
            if len(self._marks) == len(self._waiters):  # nobody waits for a job
                pause = LONGEST_PAUSE
        return max(0.0, min(monotonic() + pause, self._all_at, *turns) - monotonic())

    def _woken(self, ear: Ear | None, pause: float) -> bool:
        """Wait for the bell, or for another process's news of something that is waited for."""
        sources: list[Any] = [self._bell] if ear is None else [self._bell, ear]
        ready, _, _ = select.select(sources, [], [], pause)
        if ear is not None and ear in ready:
            concerns = self._concerns(ear.receive())
            return self._bell in ready or concerns
        return bool(ready)

    def _tell_all(self) -> None:
        with self._lock:
            everyone = [waiter for waiters in self._waiters.values() for waiter in waiters]
            for subject in list(self._waiters):
                self._drop(subject)
        _deliver(everyone)

    def _look(self, jobs: list[str], groups: list[Group]) -> bool:
        if not jobs and not groups:
            return False
        begin = monotonic()
        subjects: list[Subject] = [*jobs, *groups]
        try:
            versions = self._desk.read(self._versions, jobs, groups)
        except Exception as error:  # noqa: BLE001  # the store is away: they wait on, until their own time is over
            if isinstance(error, StoreError) and error.code == "STORE_CLOSED":
                self._tell_all()
            with self._lock:
                self._dirty.update(group for group in groups if group in self._waiters)
                self._pace(groups, monotonic(), LONGEST_PAUSE)
            return False
        with self._lock:
            now = monotonic()
            if groups:
                self._pace(groups, now, max(GROUP_PACE, _REST * (now - begin)))
                self._all_at = max(self._all_at, now + _LONG_REST * (now - begin))
            ready = [waiter for subject in subjects for waiter in self._told(subject, versions, now)]
        _deliver(ready)
        return bool(ready)

    def _told(self, subject: Subject, versions: dict[Subject, int | str], now: float) -> list[Waiter]:
        """Those for whom a version is news: they wait no more."""
        waiters = self._waiters.get(subject)
        if not waiters:
            return []
        version = versions.get(subject)
        ready = [waiter for waiter in waiters if waiter.is_past(version)]
        waiters.difference_update(ready)
        self._known[subject] = (version, now)
        if not waiters:
            self._drop(subject)
        return ready

    def _pace(self, groups: Iterable[Group], now: float, rest: float) -> None:
        if len(self._next_at) > _MOST_PACED:
            self._next_at = {group: at for group, at in self._next_at.items() if at > now}
        self._next_at.update(dict.fromkeys(groups, now + rest))


def _deliver(waiters: Iterable[Waiter]) -> None:
    """Tell them; those of one event loop all at once, because each call into it costs more than the rest."""
    by_loop: dict[Any, list[Any]] = defaultdict(list)
    for waiter in waiters:
        if waiter.where is None:
            waiter.tell()
        else:
            by_loop[waiter.where].append(waiter.tell)
    for loop, futures in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle_all, futures)
        except RuntimeError:  # the loop they waited in was closed
            continue


def _versions(tx: Transaction, jobs: list[str], groups: list[Group]) -> dict[Subject, int | str]:
    found: dict[Subject, int | str] = {}
    if jobs:
        found.update({job_id: version for job_id, (version, _) in tx.versions(jobs).items()})
    if groups:
        found.update(group_versions(tx, groups))
    return found


def _settle_all(futures: list[Any]) -> None:
    for future in futures:
        _settle(future, True)  # noqa: FBT003


def _settle(future: Any, changed: bool) -> None:  # noqa: FBT001
    if not future.done():
        future.set_result(changed)
