"""One connection to a PostgreSQL server, with every error told in our words.

Traps that shape this file: a server that vanished without a word leaves a call waiting for ever, whatever time-out the
server itself was given, so every wait has an end on this side; a pooler in transaction mode keeps nothing of a session,
so settings are made for one transaction only, in the round trip that begins it; results come in binary, because their
text would depend on the session's time zone.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.rows import tuple_row
from psycopg.sql import Literal
from psycopg.types.string import TextBinaryLoader

from holdfast.model import stamp
from holdfast.model.errors import StoreError
from holdfast.store.postgres.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from psycopg.abc import Buffer, PQGen

    from holdfast.model.lease import Lane
    from holdfast.store.postgres.location import Location

SAVEPOINT, RELEASE, UNDO = "savepoint holdfast", "release savepoint holdfast", "rollback to savepoint holdfast"
_MS_OF_2000 = 946_684_800_000  # where PostgreSQL's own count begins
_FETCH = 2_000  # rows at a time
_UNPREPARED = frozenset(("26000", "42P05"))  # no such prepared statement, or already one: another session's
_AGAIN = frozenset(("40001", "40P01")) | _UNPREPARED  # serialization failure, deadlock
# Every statement of our own transactions finds its rows by an index. A plan that is kept must not be one that was best
# when the table was empty. Where a table has nothing but its rows to read, the price of that looks like a reason to
# compile the statement, which takes a hundred times as long as running it.
_BY_INDEX = {"enable_seqscan": "off", "enable_bitmapscan": "off", "jit": "off"}
# What stands in no transaction has one plan, which is made once; others need their values to find their index.
_ONE_PLAN = {"plan_cache_mode": "force_generic_plan"}
_IDLE = "idle_in_transaction_session_timeout"
_SECOND = 2
_NOT_BY_COUNT = 2**31  # uses after which a statement is prepared unasked

_REASONS = {
    "25006": ("STORE_READ_ONLY", "the server takes no writes; is it a standby? give the address of the primary"),
    "25P03": ("STORE_UNAVAILABLE", "the transaction was left open too long, and the server ended it; keep it shorter"),
    "42501": (
        "STORE_FORBIDDEN",
        "the role may not do that, or not for this tenant; `holdfast sql --roles` prints what each role needs",
    ),
    "53100": ("STORE_FULL", "the server's disk is full; nothing was written; free some space, then try again"),
    "55P03": ("STORE_UNAVAILABLE", "a lock was not to be had; look for a transaction that hangs, then try again"),
    "57014": ("STORE_UNAVAILABLE", "the statement took too long; look for a transaction that hangs, then try again"),
    "XX001": ("STORE_CORRUPT", "the server reports damaged data; restore it from a backup"),
    "XX002": ("STORE_CORRUPT", "the server reports a damaged index; rebuild it"),
}
_AWAY = ("STORE_UNAVAILABLE", "the connection was lost; check that the server runs, then try again")
_BUSY = ("STORE_UNAVAILABLE", "other transactions were in the way; try again")


class Connection:
    """What the store needs of the driver: rows as tuples, changes as numbers, instants as stamps, JSON as text."""

    def __init__(self, raw: Any, location: Location) -> None:
        self.location = location
        self.raw = raw
        limits: dict[str, object] = {"statement_timeout": location.deadline * 1000}
        if location.tenant:
            limits["holdfast.tenant"] = location.tenant
        as_they_were = dict.fromkeys(_BY_INDEX | _ONE_PLAN)  # for a caller's own statements, whatever the session has
        self._settings = _for_a_transaction(limits | {_IDLE: location.idle_ms} | as_they_were, raw)
        self._own_settings = _for_a_transaction(limits | {_IDLE: location.own_idle_ms} | as_they_were | _BY_INDEX, raw)
        self._cursor = shaped(psycopg.Cursor(raw))
        self._uses, self._prepares = 0, False  # of the statement that is repeated
        # Settings for what stands in no transaction, until they are made.
        self._kept = json.dumps(limits | _BY_INDEX | _ONE_PLAN)
        self._trails: dict[tuple[Lane, ...], Trail] = {}

    @classmethod
    def open(cls, location: Location) -> Connection:
        """A connection of our own."""
        try:
            raw = _Bounded.connect(
                location.conninfo,
                autocommit=True,
                prepare_threshold=location.prepare_after,
                **location.options(),  # type: ignore[arg-type]
            )
        except psycopg.ProgrammingError:
            # The driver cannot read the address, and says so with a piece of it, which may be the password.
            raise StoreError(
                "STORE_UNAVAILABLE",
                f"{location.shown}: the driver cannot read the whole address; check the names of the settings behind "
                "the question mark, and write what is special in user and password as %40 for @, %25 for %, %20 for a "
                "space",
            ) from None
        except psycopg.Error as error:
            said = " ".join(str(error).split())
            raise StoreError("STORE_UNAVAILABLE", f"{location.shown}: {said}; {_advice(said)}") from error
        raw.deadline = location.longest_wait
        # Through a pooler a session may come to us that another client made listen; the driver would keep what it hears
        # for ever.
        raw.add_notify_handler(_pass_over)
        return cls(raw, location)

    def run(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """Run one of our statements and give its rows."""
        self._cursor.execute(sql, parameters)
        return [] if self._cursor.description is None else self._cursor.fetchall()

    def change(self, sql: str, parameters: Mapping[str, object]) -> int:
        """Run one of our statements and count the rows it changed."""
        return int(self._cursor.execute(sql, parameters).rowcount)

    def repeat(self, sql: str, parameters: Mapping[str, object], keep: str) -> list[tuple[Any, ...]]:
        """The same for a statement that commits by itself and is sent again and again: prepared from the second such
        call on. `keep` makes the session plan it as our own transactions do, and once.
        """
        self._uses += 1
        if self._uses >= _SECOND:
            self._settle(keep)
        try:
            return list(self._execute(sql, parameters).fetchall())
        except psycopg.Error as error:
            if error.sqlstate not in _UNPREPARED:
                raise
        return self.run(sql, parameters)

    def run_again(self, sql: str, parameters: Mapping[str, object], session: str) -> list[tuple[Any, ...]]:
        """The rows of a statement that is sent again and again inside of transactions."""
        return list(self._again(sql, parameters, session).fetchall())

    def run_at_once(self, sql: str, parameters: Mapping[str, object], keep: str) -> list[tuple[Any, ...]]:
        """The rows of one that commits by itself; none behind a pooler, and none if it fails: the usual way then meets
        it again.
        """
        try:
            self._settle(keep)
            return list(self._cursor.execute(sql, parameters, prepare=True).fetchall()) if self._prepares else []
        except psycopg.Error as error:
            self._doubt(error)
            return []

    def _settle(self, keep: str) -> None:
        if self._kept and self.location.prepare_repeated:
            self._prepare(is_ours=bool(self.run(keep, {"settings": self._kept, "pid": self.raw.info.backend_pid})))
            self._kept, self._uses = "", _SECOND  # nobody need ask again

    def _again(self, sql: str, parameters: Mapping[str, object], session: str) -> Any:
        """Prepared from the second such call on, so that the server need not plan it anew.

        `session` asks for the process that serves us: if the server greeted us as another, a pooler stands between, and
        nothing is prepared. A pooler that hides well is found out by the error, which undoes the transaction.
        """
        self._uses += 1
        if self._uses == _SECOND and self.location.prepare_repeated:
            self._prepare(is_ours=self.run(session, {}) == [(self.raw.info.backend_pid,)])
        return self._execute(sql, parameters)

    def _execute(self, sql: str, parameters: Mapping[str, object]) -> Any:
        """Prepared, where that is known to be possible."""
        try:
            return self._cursor.execute(sql, parameters, prepare=self._prepares or None)
        except psycopg.Error as error:
            self._doubt(error)
            raise

    def _prepare(self, *, is_ours: bool) -> None:
        self._prepares = is_ours
        self.raw.prepare_threshold = _NOT_BY_COUNT if is_ours else None

    def _doubt(self, error: psycopg.Error) -> None:
        if error.sqlstate in _UNPREPARED:
            self._prepare(is_ours=False)

    def execute(self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> list[Any]:
        """Run a statement of the caller's own, as the driver takes and answers it."""
        cursor = self.raw.execute(sql, parameters or None)
        return [] if cursor.description is None else list(cursor.fetchall())

    def copy(self, sql: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows in bulk."""
        with self._cursor.copy(sql) as copy:
            for row in rows:
                copy.write_row(row)

    def stream(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement, as they are read: the server keeps the rest."""
        with shaped(self.raw.cursor("holdfast_rows")) as cursor:
            cursor.itersize = _FETCH
            cursor.execute(sql, binary=True)
            yield from cursor

    def trail(self, lanes: Sequence[Lane]) -> Trail:
        """How far the claims of these lanes have come on this connection."""
        key = tuple(lanes)
        found = self._trails.get(key)
        if found is None:
            found = self._trails[key] = Trail(key)
        return found

    def rests(self) -> list[float]:
        """Seconds until claims look at the front again, where they do not now."""
        return [rest for trail in self._trails.values() if (rest := trail.rest)]

    def begin(self, *questions: str, read_only: bool = False, own: bool = False) -> list[Any]:
        """Open a transaction, set its limits and ask what is to be known of it: one round trip for all of it."""
        mode = " isolation level repeatable read read only" if read_only else " read write"
        settings = self._own_settings if own else self._settings
        try:
            cursor = self.raw.execute(";".join((f"begin{mode}", settings, *questions)))
        except psycopg.errors.FeatureNotSupported as error:  # how a standby says that it takes no writes
            raise psycopg.errors.ReadOnlySqlTransaction(str(error)) from error
        cursor.nextset()  # behind the begin, and then behind the settings
        answers = []
        while cursor.nextset():
            answers.append(cursor.fetchone()[0])
        return answers

    def commit(self) -> None:
        """Make the transaction durable."""
        self.raw.execute("commit")

    def roll_back(self) -> None:
        """Undo the open transaction, if the server has not done so already."""
        if self.raw.closed:
            return
        self._trails.clear()  # what was claimed here is free again, behind them
        try:
            self.raw.execute("rollback")
        except psycopg.Error:
            self.raw.close()  # then the server undoes it

    def all_or_none(self) -> Any:
        """A block that is undone as a whole if it raises, inside a transaction or without one."""
        return self.raw.transaction()

    def is_lost(self) -> bool:
        """Whether nothing more can be asked of it."""
        return bool(self.raw.closed)

    def is_silent(self) -> bool:
        """Whether it was lost because the server did not answer in time."""
        return bool(self.raw.silent)

    def hurry(self, seconds: float) -> None:
        """No wait of it lasts longer, nor one that is under way in another thread."""
        self.raw.deadline = min(self.raw.deadline, seconds)

    def close(self) -> None:
        """Let go of the server; an open transaction is undone."""
        self.raw.close()


def _advice(said: str) -> str:
    """What to do about a server's refusal. Its text is all there is: the driver has no state of a failed greeting."""
    if not said.endswith("does not exist"):
        return "check the address, and that the server runs"
    return "make it with createdb, or check the name" if 'database "' in said else "check the user"


class _Bounded(psycopg.Connection[Any]):
    """A connection whose every wait comes to an end."""

    deadline = 0.0
    silent = False

    def wait(self, gen: PQGen[Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return super().wait(self._until(gen, monotonic()), *args, **kwargs)
        except _TooLate:
            self.silent = True
            self.close()
            raise psycopg.OperationalError("the server did not answer in time") from None

    def _until(self, gen: Generator[Any, Any, Any], begun: float) -> Generator[Any, Any, Any]:
        """The driver's own steps; it looks in every tenth of a second while nothing comes."""
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and monotonic() > begun + self.deadline:  # which may be cut short meanwhile
                    raise _TooLate
                wanted = gen.send(ready)
        except StopIteration as done:
            return done.value


class _TooLate(Exception):
    """The deadline passed."""


def _for_a_transaction(settings: Mapping[str, object], raw: Any) -> str:
    """A statement that makes them."""
    text = (files("holdfast.store.postgres") / "sql" / "settings.sql").read_text()
    given = Literal(json.dumps(settings)).as_string(raw)
    return text.replace(":settings", given)


def _pass_over(_: object) -> None:
    """What is not for us."""


class _StampLoader(Loader):
    """timestamptz as the stamp that SQLite stores, without a datetime in between."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        return _stamp(bytes(data))


@lru_cache(maxsize=1024)  # the jobs of a claim share most of their instants
def _stamp(data: bytes) -> str:
    return stamp.to_text(int.from_bytes(data, "big", signed=True) // 1000 + _MS_OF_2000)


def is_missing_table(error: BaseException) -> bool:
    """Whether a table was not there, as in a database that was closed by a move."""
    return getattr(error, "sqlstate", None) == "42P01"


def shaped(cursor: Any) -> Any:
    """A cursor that answers as the store wants it, whatever a connection of the caller's is set to."""
    cursor.format = Format.BINARY
    cursor.row_factory = tuple_row
    cursor.adapters.register_loader("timestamptz", _StampLoader)
    cursor.adapters.register_loader("json", TextBinaryLoader)
    return cursor


def is_ours(error: BaseException) -> bool:
    """Whether the driver raised it."""
    return isinstance(error, psycopg.Error)


def is_busy(error: BaseException) -> bool:
    """Whether the same transaction may succeed a moment later."""
    return any(getattr(one, "sqlstate", None) in _AGAIN for one in (error, error.__cause__))


def translate(error: Exception, location: Location) -> StoreError:
    """The driver's error in our words."""
    code, reason = _reason(error)
    return StoreError(code, f"{location.shown}: {reason}")


def _reason(error: Exception) -> tuple[str, str]:
    state = getattr(error, "sqlstate", None)
    if state in _REASONS:
        return _REASONS[state]
    if state in _AGAIN:
        return _BUSY
    # No state: the driver itself lost the connection. 08, 57P0x: the server says that it ends it.
    if isinstance(error, psycopg.OperationalError) and (state is None or state.startswith(("08", "57P"))):
        return _AWAY
    # The first line alone: what follows may show the row, with its payload.
    said = getattr(getattr(error, "diag", None), "message_primary", None) or type(error).__name__
    return "STORE_REFUSED", f"the database refused the statement: {said}"
