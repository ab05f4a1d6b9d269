"""Every kind of connection that a caller may hand in, behind one face, so that one suite fits them all.

A coroutine's connection lives in the loop of a runner; each call of a test runs that loop until the answer is there.
"""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import django
import psycopg
import sqlalchemy
from django.conf import settings
from django.db import connection as django_connection
from django.db import connections, transaction
from django.db.backends.postgresql.base import DatabaseWrapper
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

AUTOCOMMIT = "AUTOCOMMIT"


class Kind:
    """A plain connection. `given` is what the application hands in."""

    given: Any

    def __init__(self, url: str, *, autocommit: bool = False) -> None:
        self.url = url
        self.autocommit = autocommit
        self.open()

    def open(self) -> None:
        raise NotImplementedError

    def execute(self, sql: str) -> None:
        self.given.execute(sql)

    def begin(self) -> None:
        """Most begin with their first statement."""

    def commit(self) -> None:
        self.given.commit()

    def roll_back(self) -> None:
        self.given.rollback()

    def close(self) -> None:
        self.given.close()

    def enqueue(self, app: Any, *args: Any, **options: Any) -> Any:
        return app.enqueue(*args, connection=self.given, **options)

    def enqueue_for(self, handler: Any, **arguments: Any) -> Any:
        return handler.using(connection=self.given).enqueue(**arguments)

    def enqueue_many(self, app: Any, calls: Any) -> Any:
        return app.enqueue_many(calls, connection=self.given)


class Psycopg(Kind):
    def open(self) -> None:
        self.given = psycopg.connect(self.url, autocommit=self.autocommit)


class SqlalchemyConnection(Kind):
    def open(self) -> None:
        level = {"isolation_level": AUTOCOMMIT} if self.autocommit else {}
        self.engine = sqlalchemy.create_engine(
            "postgresql+psycopg://", creator=lambda: psycopg.connect(self.url), **level
        )
        self.given = self.connect()

    def connect(self) -> Any:
        return self.engine.connect()

    def execute(self, sql: str) -> None:
        self.given.execute(sqlalchemy.text(sql))

    def close(self) -> None:
        self.given.close()
        self.engine.dispose()


class SqlalchemySession(SqlalchemyConnection):
    def connect(self) -> Any:
        return Session(self.engine, close_resets_only=False)


class SqlalchemyScopedSession(SqlalchemyConnection):
    def connect(self) -> Any:
        return scoped_session(sessionmaker(self.engine, close_resets_only=False))


class Django(Kind):
    def open(self) -> None:
        if not settings.configured:
            settings.configure(USE_TZ=True)
            django.setup()
        parts = conninfo_to_dict(self.url)
        self.wrapper = DatabaseWrapper(
            {
                "NAME": parts["dbname"],
                "USER": parts["user"],
                "PASSWORD": parts.get("password", ""),
                "HOST": parts["host"],
                "PORT": parts.get("port", ""),
                "OPTIONS": {},
                "TIME_ZONE": None,
                "CONN_MAX_AGE": None,
                "CONN_HEALTH_CHECKS": False,
                "AUTOCOMMIT": True,
                "ATOMIC_REQUESTS": False,
                "TEST": {},
            },
            "default",
        )
        connections["default"] = self.wrapper
        self.given = django_connection
        self.blocks: list[Any] = []

    def execute(self, sql: str) -> None:
        with self.given.cursor() as cursor:
            cursor.execute(sql)

    def begin(self) -> None:
        if not self.autocommit:
            self.blocks.append(transaction.atomic())
            self.blocks[-1].__enter__()

    def commit(self) -> None:
        self.blocks.pop().__exit__(None, None, None)

    def roll_back(self) -> None:
        transaction.set_rollback(True)
        self.blocks.pop().__exit__(None, None, None)

    def close(self) -> None:
        if self.blocks:
            self.roll_back()
        self.wrapper.close()


class Awaited(Kind):
    """A connection of coroutines."""

    def __init__(self, url: str, *, autocommit: bool = False) -> None:
        self.runner = asyncio.Runner()
        super().__init__(url, autocommit=autocommit)

    def open(self) -> None:
        self.given = self.run(self.aopen())

    async def aopen(self) -> Any:
        raise NotImplementedError

    def run(self, awaitable: Any) -> Any:
        async def main() -> Any:
            return await awaitable

        return self.runner.run(main())

    def execute(self, sql: str) -> None:
        self.run(self.given.execute(sql))

    def commit(self) -> None:
        self.run(self.given.commit())

    def roll_back(self) -> None:
        self.run(self.given.rollback())

    def close(self) -> None:
        self.run(self.aclose())
        self.runner.close()

    async def aclose(self) -> None:
        await self.given.close()

    def enqueue(self, app: Any, *args: Any, **options: Any) -> Any:
        return self.run(app.aenqueue(*args, connection=self.given, **options))

    def enqueue_for(self, handler: Any, **arguments: Any) -> Any:
        return self.run(handler.using(connection=self.given).aenqueue(**arguments))

    def enqueue_many(self, app: Any, calls: Any) -> Any:
        return self.run(app.aenqueue_many(calls, connection=self.given))


class PsycopgAsync(Awaited):
    async def aopen(self) -> Any:
        return await psycopg.AsyncConnection.connect(self.url, autocommit=self.autocommit)


class Asyncpg(Awaited):
    block: Any = None

    async def aopen(self) -> Any:
        return await asyncpg.connect(self.url)

    def begin(self) -> None:
        if not self.autocommit:
            self.block = self.given.transaction()
            self.run(self.block.start())

    def commit(self) -> None:
        self.run(self.block.commit())

    def roll_back(self) -> None:
        self.run(self.block.rollback())


class AsyncpgByHand(Asyncpg):
    """Its transactions are begun and ended by statements."""

    def begin(self) -> None:
        if not self.autocommit:
            self.execute("begin")

    def commit(self) -> None:
        self.execute("commit")

    def roll_back(self) -> None:
        self.execute("rollback")


class AsyncpgPool(Asyncpg):
    async def aopen(self) -> Any:
        self.pool = await asyncpg.create_pool(self.url, min_size=1, max_size=1)
        return await self.pool.acquire()

    async def aclose(self) -> None:
        await self.pool.release(self.given)
        await self.pool.close()


class SqlalchemyAsyncpg(Awaited):
    driver = "asyncpg"

    async def aopen(self) -> Any:
        level = {"isolation_level": AUTOCOMMIT} if self.autocommit else {}
        self.engine = create_async_engine(f"postgresql+{self.driver}://", async_creator=self.driver_connection, **level)
        return await self.connect()

    async def driver_connection(self) -> Any:
        return await asyncpg.connect(self.url)

    async def connect(self) -> Any:
        return await self.engine.connect()

    def execute(self, sql: str) -> None:
        self.run(self.given.execute(sqlalchemy.text(sql)))

    async def aclose(self) -> None:
        await self.given.close()
        await self.engine.dispose()


class SqlalchemyPsycopgAsync(SqlalchemyAsyncpg):
    driver = "psycopg"

    async def driver_connection(self) -> Any:
        return await psycopg.AsyncConnection.connect(self.url)


class SqlalchemyAsyncpgSession(SqlalchemyAsyncpg):
    async def connect(self) -> Any:
        return AsyncSession(self.engine, close_resets_only=False)


class SqlalchemyAsyncScopedSession(SqlalchemyAsyncpg):
    async def connect(self) -> Any:
        return async_scoped_session(async_sessionmaker(self.engine), scopefunc=lambda: "one for all tasks")


class SqlalchemyPsycopgAsyncSession(SqlalchemyPsycopgAsync):
    async def connect(self) -> Any:
        return AsyncSession(self.engine, close_resets_only=False)


KINDS: dict[str, type[Kind]] = {
    "psycopg": Psycopg,
    "psycopg-async": PsycopgAsync,
    "asyncpg": Asyncpg,
    "asyncpg-by-hand": AsyncpgByHand,
    "asyncpg-pool": AsyncpgPool,
    "sqlalchemy-connection": SqlalchemyConnection,
    "sqlalchemy-session": SqlalchemySession,
    "sqlalchemy-scoped-session": SqlalchemyScopedSession,
    "sqlalchemy-async-connection-asyncpg": SqlalchemyAsyncpg,
    "sqlalchemy-async-connection-psycopg": SqlalchemyPsycopgAsync,
    "sqlalchemy-async-session-asyncpg": SqlalchemyAsyncpgSession,
    "sqlalchemy-async-scoped-session": SqlalchemyAsyncScopedSession,
    "sqlalchemy-async-session-psycopg": SqlalchemyPsycopgAsyncSession,
    "django": Django,
}
