"""Connections that cannot carry a job, and what the error says to do."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import asyncpg
import psycopg
import pytest
import sqlalchemy
from django.db import transaction
from django.db.backends.sqlite3.base import DatabaseWrapper as DjangoOnSqlite
from sqlalchemy.ext.asyncio import create_async_engine

import holdfast
from tests.joins.kinds import (
    Asyncpg,
    AsyncpgPool,
    Django,
    Psycopg,
    PsycopgAsync,
    SqlalchemyAsyncpg,
    SqlalchemyConnection,
    SqlalchemySession,
)
from tests.servers.postgres import server


def refused(call):
    with pytest.raises(holdfast.StoreError) as caught:
        call()
    assert caught.value.code == "WRONG_CONNECTION"
    return str(caught.value)


def test_something_that_is_no_connection_hears_what_is_taken(app, url):
    engine = sqlalchemy.create_engine("postgresql+psycopg://")
    for thing in (object(), "connection", engine, psycopg):
        assert "give a connection of psycopg" in refused(lambda thing=thing: app.enqueue("ship", connection=thing))
        text = refused(lambda thing=thing: asyncio.run(app.aenqueue("ship", connection=thing)))
        assert "one of asyncpg" in text


def test_a_pool_is_no_connection(app, url):
    async def main():
        async with asyncpg.create_pool(url, min_size=1) as pool:
            with pytest.raises(holdfast.StoreError, match="cannot carry this"):
                await app.aenqueue("ship", connection=pool)

    asyncio.run(main())


@pytest.mark.parametrize("kind", [PsycopgAsync, Asyncpg, SqlalchemyAsyncpg])
def test_a_coroutines_connection_asks_for_the_async_form(app, connect, kind, url):
    own = connect(kind, url)
    assert "use `await app.aenqueue(" in refused(lambda: app.enqueue("ship", connection=own.given))


@pytest.mark.parametrize("kind", [Psycopg, SqlalchemyConnection])
def test_a_plain_connection_may_be_used_in_a_coroutine(app, connect, kind, url):
    own = connect(kind, url)
    handle = asyncio.run(app.aenqueue("ship", connection=own.given))
    own.commit()
    assert handle.status() == "queued"


@pytest.mark.parametrize(
    "kind", [Psycopg, PsycopgAsync, Asyncpg, SqlalchemyConnection, SqlalchemySession, SqlalchemyAsyncpg]
)
def test_a_closed_connection_is_refused(app, connect, kind, url):
    own = connect(kind, url)
    own.enqueue(app, "ship")
    own.run(own.given.close()) if hasattr(own, "run") else own.given.close()
    assert "closed" in refused(lambda: own.enqueue(app, "ship"))


def test_a_connection_that_went_back_to_its_pool_is_refused(app, connect, url):
    own = connect(AsyncpgPool, url)
    own.run(own.pool.release(own.given))
    assert "released" in refused(lambda: own.enqueue(app, "ship"))


def test_a_connection_in_use_by_another_task_is_refused(app, connect, url):
    own = connect(Asyncpg, url)

    async def main():
        busy = asyncio.ensure_future(own.given.execute("select pg_sleep(0.3)"))
        await asyncio.sleep(0)
        with pytest.raises(holdfast.StoreError, match="another operation is in progress"):
            await app.aenqueue("ship", connection=own.given)
        await busy

    own.run(main())


def test_a_pipeline_is_refused(app, connect, url):
    own = connect(Psycopg, url)
    with own.given.pipeline():
        assert "pipeline" in refused(lambda: own.enqueue(app, "ship"))


def test_an_engine_with_another_driver_hears_which_to_take(app, connect, url):
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as connection:
        text = refused(lambda: app.enqueue("ship", connection=connection))
    engine.dispose()
    assert "sqlite+pysqlite: make the engine with postgresql+psycopg://" in text


def test_an_async_engine_with_another_driver_hears_which_to_take(app, connect, url):
    own = connect(SqlalchemyAsyncpg, url)
    own.given.dialect.driver = "other"
    assert "postgresql+asyncpg:// or postgresql+psycopg://" in refused(lambda: own.enqueue(app, "ship"))


def test_a_plain_connection_on_a_coroutines_driver_is_refused(app, connect, url):
    own = connect(SqlalchemyAsyncpg, url)
    text = refused(lambda: own.run(own.given.run_sync(lambda plain: app.enqueue("ship", connection=plain))))
    assert "make the engine with postgresql+psycopg://" in text


def test_an_invalid_transaction_of_sqlalchemy_is_refused(app, connect, url):
    own = connect(SqlalchemyConnection, url)
    own.enqueue(app, "ship")
    own.given.invalidate()
    assert "roll it back" in refused(lambda: own.enqueue(app, "ship"))
    own.roll_back()
    assert own.enqueue(app, "ship").created


def test_a_broken_block_of_django_is_refused(app, connect, url):
    own = connect(Django, url)
    own.begin()
    transaction.set_rollback(True)
    assert "roll it back" in refused(lambda: own.enqueue(app, "ship"))
    own.roll_back()


def test_djangos_connection_to_another_kind_of_database_is_refused(app, connect, url):
    connect(Django, url)
    elsewhere = DjangoOnSqlite({"NAME": ":memory:"}, "other")
    assert "leads to sqlite" in refused(lambda: app.enqueue("ship", connection=elsewhere))


def test_another_error_of_the_callers_connection_stays_the_callers(app, connect, url):
    own = connect(Psycopg, url)
    own.given.read_only = True
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        own.enqueue(app, "ship")


def test_a_lost_connection_stays_the_callers(app, connect, url):
    own = connect(Psycopg, url)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("select pg_terminate_backend(%s, 5000)", (own.given.info.backend_pid,))
    with pytest.raises(psycopg.OperationalError):
        own.enqueue(app, "ship")


@pytest.mark.parametrize("kind", [Asyncpg, PsycopgAsync])
def test_a_connection_lost_during_a_bulk_insert_tells_what_happened_first(app, connect, kind, url, send):
    own = connect(kind, url)
    calls = [send.using(key="k").call(to="a"), send.using(key="l").call(to="a")]
    with psycopg.connect(url) as other, psycopg.connect(url, autocommit=True) as admin:
        app.enqueue_many(calls, connection=other)
        own.begin()

        async def main():
            waiting = asyncio.ensure_future(app.aenqueue_many(calls, connection=own.given))
            while not (blocked := admin.execute("select pid from pg_locks where not granted").fetchall()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            admin.execute("select pg_terminate_backend(%s, 5000)", blocked[0])
            return await waiting

        with pytest.raises((psycopg.errors.AdminShutdown, asyncpg.ConnectionDoesNotExistError), match="terminating"):
            own.run(main())
    assert len(app.jobs()) == 2  # those of the other, who committed


def test_a_store_without_tables_says_which_command_makes_them(connect):
    bare = server().database()
    own = connect(Psycopg, bare)
    with holdfast.App(bare) as app, pytest.raises(holdfast.StoreError, match="run `holdfast migrate`"):
        own.enqueue(app, "ship")
    own.given.close()
    server().drop(bare)


def test_a_store_that_cannot_be_asked_is_told_as_one(connect, url):
    """The caller's connection works, the store's own may not look at its own tables."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("drop role if exists holdfast_blind")
        admin.execute("create role holdfast_blind login")
    own = connect(Psycopg, url)
    blind = url.replace("postgres@", "holdfast_blind@", 1)
    try:
        with holdfast.App(blind) as app, pytest.raises(holdfast.StoreError) as caught:
            own.enqueue(app, "ship")
        assert caught.value.code == "STORE_FORBIDDEN"
    finally:
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("drop role holdfast_blind")


def test_none_of_the_libraries_is_imported_for_it(url):
    program = (
        "import sys, psycopg, holdfast\n"
        "with holdfast.App(sys.argv[1]) as app, psycopg.connect(sys.argv[1]) as own:\n"
        "    app.enqueue('ship', connection=own)\n"
        "assert not {'asyncpg', 'sqlalchemy', 'django'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program, url], check=True)


def test_an_async_engine_is_no_connection(app):
    engine = create_async_engine("postgresql+asyncpg://")
    assert "cannot carry this" in refused(lambda: asyncio.run(app.aenqueue("ship", connection=engine)))


def test_a_call_takes_no_connection(send):
    with pytest.raises(holdfast.BadInput, match=r"give it to app\.enqueue_many"):
        send.using(connection=object()).using(priority=1).call(to="a")
