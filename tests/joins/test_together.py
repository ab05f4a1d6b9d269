"""Callers' transactions that meet each other, and workers that find what they committed."""

from __future__ import annotations

import asyncio

import asyncpg
import psycopg
import pytest

import holdfast
from tests.joins.kinds import Asyncpg, PsycopgAsync, SqlalchemyAsyncpgSession


@pytest.mark.parametrize("ending", ["commit", "rollback"])
@pytest.mark.parametrize("kind", [Asyncpg, PsycopgAsync, SqlalchemyAsyncpgSession])
def test_a_key_that_another_transaction_holds_is_waited_for(app, connect, kind, url, ending):
    own = connect(kind, url)
    with psycopg.connect(url) as other, psycopg.connect(url, autocommit=True) as admin:
        first = app.enqueue("ship", key="k", connection=other)
        own.begin()

        async def main():
            second = asyncio.ensure_future(app.aenqueue("ship", key="k", connection=own.given))
            while not admin.execute("select 1 from pg_locks where not granted").fetchall():
                assert not second.done()
                await asyncio.sleep(0.01)
            getattr(other, ending)()
            return await second

        second = own.run(main())
        own.commit()
    assert (second.id == first.id, second.created) == ((True, False) if ending == "commit" else (False, True))
    assert [job.id for job in app.jobs()] == [second.id]


def test_many_tasks_on_connections_of_their_own(app, url, send):
    async def one(pool, number):
        async with pool.acquire() as connection, connection.transaction():
            calls = [send.using(key=f"{number}-{at}").call(to="a") for at in range(5)]
            await app.aenqueue_many(calls, connection=connection)
            await app.aenqueue("send", {"to": "a"}, key="shared", connection=connection)

    async def main():
        async with asyncpg.create_pool(url, min_size=1, max_size=5) as pool:
            await asyncio.gather(*(one(pool, number) for number in range(20)))

    asyncio.run(main())
    assert len(app.jobs(limit=200)) == 101


@pytest.mark.parametrize("told", [True, False])
async def test_a_worker_finds_what_was_committed(url, told, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    app = holdfast.App(url)

    @app.job
    async def double(number: int) -> int:
        return 2 * number

    connection = await asyncpg.connect(url)
    async with app.worker():
        async with connection.transaction():
            handle = await double.using(connection=connection).aenqueue(number=21)
        if told:
            app.notify("default")
        assert await handle.aresult(timeout=120) == 42
    await connection.close()
    app.close()
