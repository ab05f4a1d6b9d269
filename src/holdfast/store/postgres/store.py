"""PostgreSQL as a store: one writing and one reading connection per process, opened when first needed.

Not safe for several threads by itself: the engine's desk sees to it that one thread at a time writes, and one reads.

Failure cases: a connection that was lost is dropped and opened again by the next call; a call that met the loss before
anything was sent in its transaction is simply run again. A loss during the commit leaves open whether it was made: the
caller is told so, and nothing is repeated. A deadlock or a serialization failure undoes the transaction, which is
then run again.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib.resources import files
from random import uniform
from time import sleep
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import StoreError
from holdfast.model.news import News
from holdfast.store.postgres.connection import Connection, is_busy, is_missing_table, is_ours, translate
from holdfast.store.postgres.jobs import JobVerbs
from holdfast.store.postgres.leases import LeaseVerbs
from holdfast.store.postgres.location import Location
from holdfast.store.postgres.schema import migrate, moved_away, require_schema
from holdfast.store.postgres.upkeep import UpkeepVerbs
from holdfast.store.sql import Queries, named_placeholders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TRIES = 10


class PostgresTransaction(JobVerbs, LeaseVerbs, UpkeepVerbs):
    """All verbs, on one open transaction."""

    __slots__ = ()


class PostgresStore:
    """The promises of the port, on one database."""

    def __init__(self, url: str, *, clock: Callable[[], int] | None = None) -> None:
        self.location = Location(url)
        self.url = url
        self.queries = Queries(_read_file, named_placeholders)
        self._clock = clock
        self._writer: Connection | None = None
        self._reader: Connection | None = None
        self._open: PostgresTransaction | None = None
        self._left_alone: list[Connection | None] = []
        self._place: tuple[Any, ...] = ()

    def write(self, calls: Sequence[Callable[[Any], Any]]) -> tuple[list[Any], News]:
        if len(calls) == 1:
            return self._write_alone(calls[0])
        try:
            transaction = self.begin()
        except Exception as error:  # noqa: BLE001  # nobody can write now: each would only wait as long again
            return [self._told(error)] * len(calls), News()
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
        return answers, news

    def read(self, call: Callable[[Any], Any]) -> Any:
        with self._telling():
            transaction = self._begun("_reader", read_only=True)
            try:
                return call(transaction)
            finally:
                transaction.connection.roll_back()

    def begin(self) -> PostgresTransaction:
        with self._telling():
            self._open = self._begun("_writer")
        return self._open

    def commit(self) -> News:
        transaction, self._open = self._open, None
        assert transaction is not None, "begin() comes before commit()"
        connection = transaction.connection
        try:
            connection.commit()
        except Exception as error:
            if not connection.is_lost():
                raise self._told(error) from error  # a constraint that is checked at the end, for one
            raise StoreError(
                "STORE_UNAVAILABLE",
                f"{self.location.shown}: the connection was lost during the commit, and it is not known whether it was "
                "made: look before you repeat it",
            ) from error
        return transaction.news

    def roll_back(self) -> None:
        transaction, self._open = self._open, None
        if transaction is not None:
            transaction.connection.roll_back()

    def join(self, connection: Any) -> PostgresTransaction:
        modules = {kind.__module__.partition(".")[0] for kind in type(connection).__mro__}
        if "psycopg" not in modules or not hasattr(connection, "pgconn") or hasattr(connection, "__aenter__"):
            raise StoreError(
                "WRONG_CONNECTION",
                f"a {type(connection).__module__}.{type(connection).__qualname__} cannot carry this: give a "
                "psycopg.Connection, or use app.transaction()",
            )
        joined = Connection(connection, self.location)
        *where, now = joined.run(self.queries["place"], {})[0]
        place = tuple(where)
        if place != self._place:
            self._place = self.read(lambda transaction: transaction.run("place")[0][:-1])
            if place != self._place:
                raise StoreError(
                    "WRONG_CONNECTION", f"that connection is to another database than {self.location.shown}"
                )
        return PostgresTransaction(joined, self.queries, self._clock() if self._clock else now)

    def now(self) -> int:
        return self._clock() if self._clock else int(self.read(lambda transaction: transaction.now))

    def migrate(self) -> int:
        self.close()
        with self._telling():
            connection = Connection.open(self.location)
            try:
                now = connection.begin(self.queries["now"])
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

    def _write_alone(self, call: Callable[[Any], Any]) -> tuple[list[Any], News]:
        tries = TRIES
        while True:
            try:
                answer = call(self.begin())
                return [answer], self.commit()
            except Exception as error:  # noqa: BLE001  # the caller gets it as the answer
                self.roll_back()
                tries -= 1
                if not tries or not is_busy(error):
                    return [self._told(error)], News()
            except BaseException:
                self.roll_back()
                raise
            sleep(uniform(0, 0.01))  # whoever was in the way may be done by then

    def _begun(self, which: str, *, read_only: bool = False) -> PostgresTransaction:
        """A transaction that has begun; on a new connection where the old one was lost since its last use."""
        ask_the_time = None if self._clock else self.queries["now"]
        connection = getattr(self, which)
        if connection is None:
            connection = self._connect(which)
            now = connection.begin(ask_the_time, read_only=read_only)
        else:
            try:
                now = connection.begin(ask_the_time, read_only=read_only)
            except Exception:
                if not connection.is_lost():
                    raise
                setattr(self, which, None)
                return self._begun(which, read_only=read_only)
        return PostgresTransaction(connection, self.queries, self._clock() if self._clock else now)

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
    def _telling(self) -> Iterator[None]:
        """The driver's errors in our words."""
        try:
            yield
        except Exception as error:
            told = self._told(error)
            if told is error:
                raise
            raise told from error

    def _told(self, error: Exception) -> Exception:
        if not is_ours(error):
            return error
        told = (self._moved() if is_missing_table(error) else None) or translate(error, self.location)
        told.__cause__ = error
        return told

    def _moved(self) -> StoreError | None:
        """Who no longer finds a table learns whether the jobs went elsewhere."""
        connection = Connection.open(self.location)
        try:
            return moved_away(connection, self.queries)
        finally:
            connection.close()


def _read_file(name: str) -> bytes:
    return (files("holdfast.store.postgres") / name).read_bytes()
