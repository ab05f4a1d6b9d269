"""SQLite as a store: one writing and one reading connection per process, opened when first needed.

Not safe for several threads by itself: the engine's desk sees to it that one thread at a time writes, and one reads.
"""

from __future__ import annotations

import os
from time import monotonic, sleep, time_ns

from holdfast.model.errors import HoldfastError, StoreError
from holdfast.model.ids import new_ids
from holdfast.model.news import News
from holdfast.store.sql import Queries
from holdfast.store.sqlite.asking import begun
from holdfast.store.sqlite.connection import Connection, translate
from holdfast.store.sqlite.location import Location
from holdfast.store.sqlite.schema import ensure_schema, refuse_older, require_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from holdfast.model.request import NewJob
    from holdfast.store.sqlite.transaction import SqliteTransaction

PATIENCE = 30.0  # seconds to wait for another process's write lock
HASTILY, BRIEFLY = 5.0, 0.05  # the same for what promises nothing: a worker that is to stop must not wait for it
SPACE_FLOOR = 8 * 1024 * 1024
WAL_LIMIT = 64 * 1024 * 1024
_PLENTY, _LOOK_SECONDS = 1024 * 1024 * 1024, 0.1  # no disk is filled by so much in so short a time


class SqliteStore:
    """The promises of the port, on one file."""

    writes_alone = True
    watched = False
    word: Callable[[News], str | None] | None = None  # others are told by datagrams, after the commit

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], int] | None = None,
        space_floor: int = SPACE_FLOOR,
        patience: float = PATIENCE,
        migrates: bool = True,
    ) -> None:
        self.location = Location(url)
        self.url = url
        self.queries = Queries(_read_file)
        self._clock = clock or _wall_clock
        self._floor = space_floor
        self._room, self._look_at = 0, 0.0  # what may be written without a look at the disk, and until when
        self._patience = patience
        self._haste, self._level = PATIENCE, self.location.synchronous
        self._migrates = migrates
        self._writer: Connection | None = None
        self._reader: Connection | None = None
        self._open: SqliteTransaction | None = None
        self._left_alone: list[Connection | None] = []

    def write(
        self, calls: Sequence[Callable[[Any], Any]], *, hastily: bool = False, briefly: bool = False
    ) -> tuple[list[Any], News]:
        if len(calls) == 1:
            return self._write_hastily(calls[0], briefly=briefly) if hastily else self._write_alone(calls[0])
        try:
            transaction = self.begin()
        except Exception as error:  # noqa: BLE001  # nobody can write now: each would only wait as long again
            return [self._told(error)] * len(calls), News()
        try:
            answers = [call(transaction) for call in calls]
            return answers, self.commit()
        except Exception:  # noqa: BLE001  # whatever it was, one of the calls below meets it again, alone
            self.roll_back()
        except BaseException:
            self.roll_back()
            raise
        answers, news = [], News()
        for call in calls:
            (answer,), told = self._write_alone(call)
            answers.append(answer)
            news.queues |= told.queues
            news.jobs += told.jobs
            news.groups |= told.groups
        return answers, news

    def insert_alone(self, job: NewJob) -> tuple[tuple[str, bool], News]:
        """One statement takes the lock, writes and commits. A lock or key that is taken is met in the usual way, and so
        is whatever might be paused.
        """
        if job.group is not None or job.tenant:
            return self._insert_usually(job)
        connection = self._writing()
        connection.sync(self._level)
        self._check_space(len(job.payload))
        sql, in_order = self.queries.by_place("insert")
        here = begun(connection, self.queries, self._clock(), self._check_space)
        if here.ruled([job])[0] is not job:
            return self._insert_usually(job)
        row = here.new_row(job, new_ids(here.now, 1)[0])
        try:
            stored = connection.change(sql, in_order(row))
        except Exception as error:
            if not connection.is_busy(error):
                raise self._told(error) from error
            stored = 0
        if stored:
            here.news.queues.add(job.queue)
            return (str(row["id"]), True), here.news
        return self._insert_usually(job)

    def _insert_usually(self, job: NewJob) -> tuple[tuple[str, bool], News]:
        (answer,), news = self._write_alone(lambda transaction: transaction.insert([job])[0])
        if isinstance(answer, Exception):
            raise answer
        return answer, news

    def read(self, call: Callable[[Any], Any]) -> Any:
        connection = self._reading()
        return self.retrying(connection, lambda: self._read_at_once(connection, call))

    def begin(self) -> SqliteTransaction:
        connection = self._writing()
        connection.sync(self._level)
        self.retrying(connection, connection.begin)
        # The instant is read under the lock: a later transaction never has an earlier one.
        self._open = begun(connection, self.queries, self._clock(), self._check_space)
        return self._open

    def commit(self) -> News:
        transaction, self._open = self._open, None
        assert transaction is not None, "begin() comes before commit()"
        try:
            transaction.connection.commit()
        except Exception as error:
            transaction.connection.roll_back()
            raise translate(error, self.location.path) from error
        if self.watched:
            _await_a_claim(transaction.connection)
        return transaction.news

    def roll_back(self) -> None:
        transaction, self._open = self._open, None
        if transaction is not None:
            transaction.connection.roll_back()

    def join(self, connection: Any) -> SqliteTransaction:
        from holdfast.store.frameworks import libraries_of  # noqa: PLC0415  # most have no connection of their own
        from holdfast.store.sqlite.guests import driver_connection  # noqa: PLC0415

        connection = driver_connection(connection)
        if self.location.driver not in libraries_of(connection):
            raise StoreError(
                "WRONG_CONNECTION",
                f"a {type(connection).__module__}.{type(connection).__qualname__} cannot carry this: the store uses "
                f"{self.location.driver}, and two SQLite libraries on one file in one process can corrupt it. Use "
                "app.transaction(), or add ?driver=sqlite3 to the URL for connections of the standard library",
            )
        joined = Connection.__new__(Connection)
        joined.adopt(connection, self.location)
        if joined.file_name() != os.path.realpath(self.location.path):
            raise StoreError("WRONG_CONNECTION", f"that connection is to another file than {self.location.path}")
        require_schema(joined, self.queries)
        return begun(joined, self.queries, self._clock(), self._check_space)

    async def ajoin(self, connection: Any, call: Callable[[Any], Any]) -> Any:
        return call(self.join(connection))

    def now(self) -> int:
        return self._clock()

    def migrate(self) -> int:
        self.close()
        applied: list[int] = []
        self._writer = self._connect(applied)
        return len(applied)

    def checkpoint(self) -> bool:
        """Fold the log back into the file and cut it to nothing; False while others read or write."""
        connection = self._writing()
        try:
            return connection.checkpoint()
        except Exception as error:
            if not connection.is_busy(error):
                raise translate(error, self.location.path) from error
            return False

    def close(self, *, keep_log: bool = False) -> None:
        """Close both connections. `keep_log` leaves the log for others: cheap, as a fork wants it."""
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close(keep_log=keep_log)
        self._reader = self._writer = self._open = None

    def abandon(self) -> None:
        # Closing would undo the parent's transaction in the memory that both share.
        self._left_alone = [self._reader, self._writer]
        self._reader = self._writer = self._open = None

    def library_version(self) -> str:
        """The version of the SQLite library in use."""
        return self._writing().library_version()

    def _write_alone(self, call: Callable[[Any], Any]) -> tuple[list[Any], News]:
        try:
            answer = call(self.begin())
            return [answer], self.commit()
        except Exception as error:  # noqa: BLE001  # the caller gets it as the answer
            self.roll_back()
            return [self._told(error)], News()
        except BaseException:
            self.roll_back()
            raise

    def hurry(self, seconds: float) -> None:
        self._patience = min(self._patience, seconds)

    def _write_hastily(self, call: Callable[[Any], Any], *, briefly: bool) -> tuple[list[Any], News]:
        """Do not wait for the disk. The log is written in order, so the next durable commit takes this one with it."""
        self._haste, self._level = BRIEFLY if briefly else HASTILY, "normal"
        try:
            taken = self._take_at_once(call) if briefly else []
            return (taken, News()) if taken else self._write_alone(call)
        finally:
            self._haste, self._level = PATIENCE, self.location.synchronous

    def _take_at_once(self, call: Callable[[Any], Any]) -> list[Any]:
        """The answer of a call that claims; none if it takes the long way, which knows what to do about an error."""
        from holdfast.store.at_once import taken_at_once  # noqa: PLC0415  # a cold hook claims nothing
        from holdfast.store.sqlite.lone import LoneClaims  # noqa: PLC0415

        try:
            connection = self._writing()
            connection.sync(self._level)
            return taken_at_once(call, LoneClaims(connection, self.queries, self._clock(), self._check_space))
        except Exception:  # noqa: BLE001  # a lock that is taken, most often
            return []

    def _told(self, error: Exception) -> Exception:
        if isinstance(error, HoldfastError) or self._writer is None or not self._writer.is_ours(error):
            return error
        told = self._translated(self._writer, error)
        told.__cause__ = error
        return told

    def _translated(self, connection: Connection, error: Exception) -> StoreError:
        """The driver's error in our words; who no longer finds a table learns whether the jobs went elsewhere."""
        moved = None
        if connection.is_missing_table(error):
            from holdfast.store.sqlite.schema import moved_away  # noqa: PLC0415

            moved = moved_away(connection, self.queries)
        return moved or translate(error, self.location.path)

    def _read_at_once(self, connection: Connection, call: Callable[[Any], Any]) -> Any:
        """All that one call reads is of one moment."""
        connection.begin_reading()
        try:
            return call(begun(connection, self.queries, self._clock(), self._check_space))
        finally:
            connection.roll_back()

    def retrying(self, connection: Connection, call: Callable[[], Any]) -> Any:
        """Try until the lock is had. Random pauses are fairer than SQLite's own waiting, which starves some."""
        begun = 0.0
        while True:
            try:
                return call()
            except Exception as error:
                if not connection.is_ours(error):
                    raise
                now = monotonic()
                begun = begun or now
                if not connection.is_busy(error) or now > begun + min(self._patience, self._haste):
                    raise self._translated(connection, error) from error
            from random import uniform  # noqa: PLC0415  # seldom needed, and slow to import

            sleep(uniform(0.0002, 0.002))

    def _writing(self) -> Connection:
        if self._writer is not None and self._is_gone(self._writer):
            self._writer = None  # first: what stands there now may not be fit to be opened
        if self._writer is None:
            self._writer = self._connect([])
        return self._writer

    def _reading(self) -> Connection:
        if self._reader is not None and self._is_gone(self._reader):
            self._reader = None  # first: what stands there now may not be fit to be opened
        if self._reader is None:
            self._reader = self._connect([])
        return self._reader

    def _is_gone(self, connection: Connection) -> bool:
        """Whether the file was removed or replaced under a connection: what it wrote now would be lost."""
        if connection.identity == self.location.identity():
            return False
        from logging import getLogger  # noqa: PLC0415  # seldom needed, and slow to import

        getLogger("holdfast.store").warning("%s was removed or replaced: it is opened anew", self.location.path)
        connection.close(keep_log=True)
        return True

    def _connect(self, applied: list[int]) -> Connection:
        connection = self.opened()
        try:
            if self._migrates or not self.retrying(connection, lambda: refuse_older(connection, self.queries)):
                ensure_schema(connection, self.queries, self._clock, self.retrying, applied)
        except BaseException:
            connection.close(keep_log=True)
            raise
        return connection

    def opened(self) -> Connection:
        """A connection to the file, whatever its tables are."""
        connection = Connection(self.location)
        try:
            self.location.check(connection.library_version())
            self.retrying(
                connection,
                lambda: connection.prepare(self.location.synchronous, WAL_LIMIT, shares=self._migrates),
            )
            connection.identity = self.location.identity()
        except BaseException:
            connection.close(keep_log=True)
            raise
        return connection

    def _check_space(self, needed: int) -> None:
        now = monotonic()
        if needed < self._room and now < self._look_at:
            return
        disk = os.statvfs(self.location.folder)
        free = disk.f_bavail * disk.f_frsize
        self._room, self._look_at = free - self._floor - _PLENTY, now + _LOOK_SECONDS
        if free < self._floor + needed:
            raise StoreError(
                "STORE_FULL",
                f"{self.location.path}: only {free // 1024} KiB are free; new jobs are refused so that running "
                "ones can still be finished: free some space, then try again",
            )


def _read_file(name: str) -> bytes:
    return __loader__.get_data(os.path.join(os.path.dirname(__file__), name))  # type: ignore[name-defined,no-any-return]  # noqa: PTH118,PTH120


def _await_a_claim(connection: Connection) -> None:
    """What a worker does next is claim, and somebody waits for that: have it find its level set."""
    try:
        connection.sync("normal")
    except Exception:  # noqa: BLE001  # what was committed is committed; who writes next sets it, or is told
        return


def _wall_clock() -> int:
    return time_ns() // 1_000_000
