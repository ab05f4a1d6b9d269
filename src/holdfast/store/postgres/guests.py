"""Whose connection it is: what callers hand in, and the driver's connection inside it.

A framework begins its transaction with its first statement, and would neither commit nor roll back one that it knows
nothing of. So the first question is asked through the framework, and only then its driver is spoken to.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor

from holdfast.model.errors import StoreError
from holdfast.store.frameworks import is_a, is_of_django
from holdfast.store.postgres.connection import shaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = tuple[Any, ...]

_TAKEN = (
    "a connection of psycopg, a Connection or Session of SQLAlchemy, or django.db.connection; with `await "
    "app.aenqueue(...)` also one of asyncpg, and the async ones of psycopg and SQLAlchemy"
)
_FAILED_STATE = "25P02"
_FAILED = frozenset(("PendingRollbackError", "TransactionManagementError"))  # of SQLAlchemy, of Django
_UNUSABLE = frozenset(("InvalidRequestError", "InterfaceError"))  # of SQLAlchemy (closed, for one), of the drivers


def is_awaited(connection: Any) -> bool:
    """Whether it is one for coroutines."""
    return (
        isinstance(connection, AsyncConnection)
        or is_a(connection, "asyncpg", "Connection")
        or is_a(connection, "sqlalchemy.ext.asyncio", "AsyncConnection", "AsyncSession", "async_scoped_session")
    )


def greet(connection: Any, question: str) -> tuple[Any, Row]:
    """The psycopg.Connection inside, and the answer to the first question."""
    if is_awaited(connection):
        _refuse(connection, "is for coroutines: use `await app.aenqueue(..., connection=...)`")
    with _refusing():
        if is_a(connection, "sqlalchemy.orm", "Session", "scoped_session"):
            connection = connection.connection()
        if is_a(connection, "sqlalchemy", "Connection"):
            _check_dialect(connection, "psycopg")
            answer = connection.exec_driver_sql(question).one()
            raw = connection.connection.driver_connection
        elif is_of_django(connection):
            raw, answer = _greet_django(connection, question)
        else:
            raw = _checked(connection, Connection)
            answer = shaped(Cursor(raw)).execute(question).fetchone()
    return _checked(raw, Connection), tuple(answer)


async def agreet(connection: Any, question: str) -> tuple[Any, Row]:
    """The psycopg.AsyncConnection or asyncpg.Connection inside, and the answer to the first question."""
    with _refusing():
        if is_a(connection, "sqlalchemy.ext.asyncio", "AsyncSession", "async_scoped_session"):
            connection = await connection.connection()
        if is_a(connection, "sqlalchemy.ext.asyncio", "AsyncConnection"):
            _check_dialect(connection, "asyncpg", "psycopg")
            # In one statement: a tracer that knows no greenlets loses sight of a function in which they switch.
            answer, raw = (
                (await connection.exec_driver_sql(question)).one(),
                (await connection.get_raw_connection()).driver_connection,
            )
        elif isinstance(connection, AsyncConnection):
            raw = _checked(connection, AsyncConnection)
            answer = await (await shaped(AsyncCursor(raw)).execute(question)).fetchone()
        else:
            raw, answer = connection, (await connection.fetchrow(question)).values()
    return raw, tuple(answer)


def _greet_django(connection: Any, question: str) -> tuple[Any, Row]:
    if connection.vendor != "postgresql":
        _refuse(connection, f"leads to {connection.vendor}: give the one of the PostgreSQL database")
    with connection.cursor() as cursor:
        cursor.execute(question)
        answer = cursor.fetchone()
    return connection.connection, answer


def _checked(raw: Any, kind: Any) -> Any:
    if not isinstance(raw, kind):
        _refuse(raw, f"cannot carry this: give {_TAKEN}; or use app.transaction()")
    if raw.closed:
        _refuse(raw, "is closed: give one that is open")
    if raw.pgconn.pipeline_status:
        _refuse(raw, "is in pipeline mode, in which no answer comes before its end: enqueue before it or after it")
    return raw


def _check_dialect(connection: Any, *drivers: str) -> None:
    dialect = connection.dialect
    if dialect.name != "postgresql" or dialect.driver not in drivers:
        schemes = " or ".join(f"postgresql+{driver}://" for driver in drivers)
        _refuse(connection, f"is of an engine with {dialect.name}+{dialect.driver}: make the engine with {schemes}")


@contextmanager
def _refusing() -> Iterator[None]:
    """What makes a connection useless, in our words; any other error of the caller's connection stays the caller's."""
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        names = {kind.__name__ for kind in type(error).__mro__}
        if names & _FAILED or _FAILED_STATE in _states(error):
            raise StoreError(
                "WRONG_CONNECTION",
                "the transaction of that connection has failed, and nothing more can be written in it: roll it back, "
                "or to a savepoint before the failure, then try again",
            ) from error
        if names & _UNUSABLE:
            raise StoreError(
                "WRONG_CONNECTION",
                f"that connection cannot be used now: {error}. Give one that is open, and that nothing else uses",
            ) from error
        raise


def _states(error: BaseException) -> set[object]:
    """The server's codes: a framework wraps the driver's error."""
    return {getattr(one, "sqlstate", None) for one in (error, getattr(error, "orig", None), error.__cause__)}


def _refuse(connection: object, why: str) -> NoReturn:
    kind = type(connection)
    raise StoreError("WRONG_CONNECTION", f"a {kind.__module__}.{kind.__qualname__} {why}")
