"""PostgreSQL as a store: one writing and one reading connection per process, opened when first needed.

Not safe for several threads by itself: the engine's desk sees to it that one thread at a time writes, and one reads.

Failure cases: a connection that was lost is dropped and opened again by the next call; a call that met the loss before
anything was sent in its transaction is simply run again. Where a commit goes unanswered, the server is asked, by the
transaction's number and by a job that it made, what became of it; only where that cannot be told is the caller left
with "not known", and nothing is ever repeated on a guess. A deadlock or a serialization failure undoes the transaction,
which is then run again.
"""

from __future__ import annotations

from contextlib import contextmanager
from random import uniform
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import StoreError
from holdfast.model.news import News
from holdfast.store.at_once import taken_at_once
from holdfast.store.postgres.base import read_file
from holdfast.store.postgres.connection import Connection, is_busy, is_missing_table, is_ours, translate
from holdfast.store.postgres.crowd import Crowd
from holdfast.store.postgres.joins import Joins
from holdfast.store.postgres.location import Location
from holdfast.store.postgres.lone import LoneClaims
from holdfast.store.postgres.lone_inserts import NOT_KNOWN, LoneInserts
from holdfast.store.postgres.schema import migrate, moved_away, require_schema
from holdfast.store.postgres.transaction import PostgresTransaction
from holdfast.store.sql import Queries, named_placeholders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


TRIES = 10
PATIENCE = 10.0  # seconds to ask what became of a commit


_ENDS = {
    "aborted": "before it was made: nothing was written; try again",
    None: NOT_KNOWN,
}


class PostgresStore(LoneInserts):
    """The promises of the port, on one database."""

    writes_alone = False
    watched = False

    def __init__(self, url: str, *, clock: Callable[[], int] | None = None, patience: float = PATIENCE) -> None:
        self.location = Location(url)
        self.url = url
        self.queries = Queries(read_file, named_placeholders)
        self._clock = clock
        self._patience = patience
        self._mark = ""
        self._ahead: float | None = None
        self._writer: Connection | None = None
        self._reader: Connection | None = None
        self._doubted: set[str] = set()  # not to be waited on: the other one fell silent
        self._open: PostgresTransaction | None = None
        self._left_alone: list[Connection | None] = []
        self._crowd = Crowd()
        self._joins = Joins(self.location, self.queries, clock)

    def write(
        self,
        calls: Sequence[Callable[[Any], Any]],
        *,
        hastily: bool = False,
        briefly: bool = False,  # noqa: ARG002  # nobody has a lock of all writes
    ) -> tuple[list[Any], News]:
        if len(calls) == 1:
            taken = self._take_at_once(calls[0]) if hastily and self.watched else []
            return (taken, News()) if taken else self._write_alone(calls[0])
        try:
            transaction = self._begin(own=True)
        except Exception as error:  # noqa: BLE001  # nobody can write now: each would only wait as long again
            return [self._told_to_a_writer(error)] * len(calls), News()
        try:
            answers = [call(transaction) for call in calls]
            return answers, self.commit()
        except Exception as error:  # noqa: BLE001  # whatever it was, one of the calls below meets it again, alone
            lost = transaction.connection.is_lost()
            self.roll_back()
            if lost:  # whether it was made is not known, so nothing is repeated
                return [self._told(error)] * len(calls), News()
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

    def hurry(self, seconds: float) -> None:
        self._patience = min(self._patience, seconds)
        self.location.hurry(seconds)
        for connection in filter(None, (self._writer, self._reader)):
            connection.hurry(seconds)

    def read(self, call: Callable[[Any], Any]) -> Any:
        return self._read_on("_reader", call)

    def begin(self) -> PostgresTransaction:
        return self._begin()

    def commit(self) -> News:
        transaction, self._open = self._open, None
        assert transaction is not None, "begin() comes before commit()"
        connection = transaction.connection
        try:
            connection.commit()
        except Exception as error:
            if not connection.is_lost():
                raise self._told(error) from error  # a constraint that is checked at the end, for one
            end = self._became(self._mark, transaction.witness)
            if end != "committed":
                raise StoreError(
                    "STORE_UNAVAILABLE",
                    f"{self.location.shown}: the connection was lost during the commit, {_ENDS[end]}",
                ) from error
        return transaction.news

    def roll_back(self) -> None:
        transaction, self._open = self._open, None
        if transaction is not None:
            transaction.connection.roll_back()
            self._doubt_after(transaction.connection, "_reader")

    def join(self, connection: Any) -> PostgresTransaction:
        return self._joins.join(connection)

    async def ajoin(self, connection: Any, call: Callable[[Any], Any]) -> Any:
        return await self._joins.ajoin(connection, call)

    def now(self) -> int:
        return self._clock() if self._clock else int(self.read(lambda transaction: transaction.now))

    def migrate(self) -> int:
        self.close()
        with self._telling():
            connection = Connection.open(self.location)
            try:
                (now,) = connection.begin(self.queries["now"])
                made = migrate(connection, self.queries, self._clock() if self._clock else now)
                connection.commit()
            finally:
                connection.close()
        return made

    def close(self, *, keep_log: bool = False) -> None:  # noqa: ARG002  # there is no log to spare here
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._reader = self._writer = self._open = None

    def abandon(self) -> None:
        # Closing would say goodbye to the server in the parent's name, on the socket that both share.
        self._left_alone = [self._reader, self._writer]
        self._reader = self._writer = self._open = None

    def _begin(self, *, own: bool = False) -> PostgresTransaction:
        """Open a transaction to write; `own`: nobody but us has a say in how long it lasts."""
        with self._telling():
            self._open = self._begun("_writer", own=own)
        return self._open

    def _write_alone(self, call: Callable[[Any], Any]) -> tuple[list[Any], News]:
        tries = TRIES
        while True:
            try:
                answer = call(self._begin(own=True))
                return [answer], self.commit()
            except Exception as error:  # noqa: BLE001  # the caller gets it as the answer
                self.roll_back()
                tries -= 1
                if not tries or not is_busy(error):
                    return [self._told_to_a_writer(error)], News()
            except BaseException:
                self.roll_back()
                raise
            sleep(uniform(0, 0.01))  # whoever was in the way may be done by then

    def _take_at_once(self, call: Callable[[Any], Any]) -> list[Any]:
        """The answer of a call that claims; none if it takes the long way, which knows what to do about a loss."""
        connection = self._current("_writer")
        if connection is None or self._clock or self.location.tenant:
            return []
        return taken_at_once(call, LoneClaims(connection, self.queries, 0))

    def _tell_time(self, now: int) -> None:
        """How far the database's clock is ahead of this process's own: enough for the time in an id."""
        self._ahead = now - monotonic() * 1000

    def _became(self, mark: str, witness: str) -> str | None:
        """How a transaction ended whose commit was not answered; None if that cannot be told, or not in time."""
        give_up = monotonic() + self._patience
        ends: list[str] = []
        while monotonic() < give_up:
            try:
                end, is_there = self._read_on("_writer", lambda tx: tx.run("became", mark=mark, witness=witness))[0]
            except StoreError:  # not back yet
                end, is_there = "in progress", False
            if is_there:
                return "committed"
            if end == "aborted":
                return "aborted"
            # A look that began before the commit sees its end, but not yet its jobs: only the second one counts.
            if end != "in progress" and end in ends:
                return "aborted" if witness else None
            ends.append(end)
            sleep(0.05)
        return None

    def _read_on(self, which: str, call: Callable[[Any], Any]) -> Any:
        """On one of the two connections: a thread that writes keeps its hands off the one that another may read on."""
        with self._telling():
            transaction = self._begun(which, read_only=True)
            try:
                return call(transaction)
            finally:
                transaction.connection.roll_back()
                self._doubt_after(transaction.connection, _other(which))

    def _begun(self, which: str, *, read_only: bool = False, own: bool = False) -> PostgresTransaction:
        """A transaction that has begun; on a new connection where the old one was lost since its last use."""
        questions = [
            self.queries[name] for name in (*(() if self._clock else ("now",)), *(() if read_only else ("mark",)))
        ]
        connection = self._current(which)
        if connection is None:
            connection = self._connect(which)
            answers = connection.begin(*questions, read_only=read_only, own=own)
        else:
            try:
                answers = connection.begin(*questions, read_only=read_only, own=own)
            except Exception:
                if not connection.is_lost():
                    raise
                setattr(self, which, None)
                self._doubt_after(connection, _other(which))
                return self._begun(which, read_only=read_only, own=own)
        if not read_only:
            self._mark = answers.pop()
        if answers:
            self._tell_time(answers[0])
        return PostgresTransaction(connection, self.queries, self._clock() if self._clock else answers[0])

    def _current(self, which: str) -> Connection | None:
        """The connection that is open and not doubted."""
        connection: Connection | None = getattr(self, which)
        if connection is not None and which in self._doubted:
            connection.close()
            setattr(self, which, None)
            connection = None
        self._doubted.discard(which)
        return connection

    def _doubt_after(self, lost: Connection, other: str) -> None:
        """Where one connection fell silent the other has, too: who uses it next opens it anew and need not find out."""
        if lost.is_silent():
            self._doubted.add(other)

    def _connect(self, which: str) -> Connection:
        connection = Connection.open(self.location)
        try:
            require_schema(connection, self.queries)
            self._check_tenant(connection)
        except BaseException:
            connection.close()
            raise
        setattr(self, which, connection)
        return connection

    def _check_tenant(self, connection: Connection) -> None:
        """A tenant in the address is a promise that the server keeps, so a role it cannot hold to it is refused."""
        if self.location.tenant and not connection.run(self.queries["bound"], {})[0][0]:
            raise StoreError(
                "STORE_FORBIDDEN",
                f"{self.location.shown}: this role sees the jobs of all tenants, so tenant= would bind nothing: "
                "connect as a member of holdfast_tenant (`holdfast sql --roles`), or leave the tenant out",
            )

    @contextmanager
    def _telling(self, in_our_words: Callable[[Exception], Exception] | None = None) -> Iterator[None]:
        """The driver's errors in our words."""
        try:
            yield
        except Exception as error:
            told = (in_our_words or self._told)(error)
            if told is error:
                raise
            raise told from error

    def _told(self, error: Exception) -> Exception:
        if not is_ours(error):
            return error
        told = (self._moved() if is_missing_table(error) else None) or translate(error, self.location)
        told.__cause__ = error
        return told

    def _told_to_a_writer(self, error: Exception) -> Exception:
        """The same. A server that takes no writes (any more) is left, so that the next call looks for the primary."""
        told = self._told(error)
        if isinstance(told, StoreError) and told.code == "STORE_READ_ONLY" and self._writer is not None:
            self._writer.close()
            self._writer = None
        return told

    def _moved(self) -> StoreError | None:
        """Who no longer finds a table learns whether the jobs went elsewhere."""
        connection = Connection.open(self.location)
        try:
            return moved_away(connection, self.queries)
        finally:
            connection.close()


def _other(which: str) -> str:
    return "_writer" if which == "_reader" else "_reader"
