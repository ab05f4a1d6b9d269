"""A caller's connection may be set up in any way; the job is stored all the same."""

from __future__ import annotations

import json

import asyncpg
import psycopg
import pytest
from psycopg.rows import dict_row

import holdfast
from tests.joins.kinds import Asyncpg, Django, Psycopg, PsycopgAsync, SqlalchemyAsyncpg


def enqueue_twice(app, own):
    own.begin()
    made = own.enqueue(app, "ship", {"a": [1]}, key="k")
    again = own.enqueue(app, "ship", {"a": [1]}, key="k")
    own.commit()
    assert (made.created, again.created) == (True, False)
    assert app.get(made.id).payload == {"a": [1]}


@pytest.mark.parametrize("kind", [Psycopg, PsycopgAsync])
def test_rows_as_dictionaries(app, connect, kind, url):
    own = connect(kind, url)
    own.given.row_factory = dict_row
    enqueue_twice(app, own)


def test_values_put_in_by_the_client(app, connect, url):
    own = connect(Psycopg, url)
    own.given.cursor_factory = psycopg.ClientCursor
    enqueue_twice(app, own)


def test_values_put_in_by_the_server_under_django(app, connect, url):
    own = connect(Django, url)
    own.wrapper.settings_dict["OPTIONS"] = {"server_side_binding": True}
    enqueue_twice(app, own)


def test_json_that_asyncpg_reads_and_writes(app, connect, url):
    own = connect(Asyncpg, url)
    own.run(own.given.set_type_codec("json", schema="pg_catalog", encoder=json.dumps, decoder=json.loads))
    enqueue_twice(app, own)


class Named(asyncpg.Record):
    pass


def test_records_of_the_callers_own(app, connect, url):
    class OnRecords(Asyncpg):
        async def aopen(self):
            return await asyncpg.connect(self.url, record_class=Named, statement_cache_size=0)

    enqueue_twice(app, connect(OnRecords, url))


def test_another_time_zone_and_date_style(app, connect, url):
    own = connect(Psycopg, url)
    own.execute("set time zone 'Asia/Kathmandu'")
    own.execute("set datestyle = 'German'")
    handle = own.enqueue(app, "ship")
    own.commit()
    assert app.get(handle.id).created_at == app.get(app.enqueue("ship").id).created_at


def test_without_a_clock_of_its_own_the_jobs_time_is_the_databases(url, connect):
    own = connect(Asyncpg, url)
    with holdfast.App(url) as app:
        before = app.get(app.enqueue("ship").id).created_at
        joined = app.get(own.enqueue(app, "ship").id).created_at
        assert before <= joined <= app.get(app.enqueue("ship").id).created_at


@pytest.mark.parametrize("level", ["repeatable_read", "serializable"])
def test_a_stricter_isolation(app, connect, level, url):
    own = connect(Asyncpg, url)
    block = own.given.transaction(isolation=level)
    own.run(block.start())
    handle = own.enqueue(app, "ship", key="k")
    own.run(block.commit())
    assert handle.status() == "queued"


def test_a_savepoint_of_the_callers_takes_the_job_with_it(app, connect, url):
    own = connect(Psycopg, url)
    kept = own.enqueue(app, "ship")
    with own.given.transaction() as savepoint:
        own.enqueue(app, "ship")
        raise psycopg.Rollback(savepoint)
    own.commit()
    assert [job.id for job in app.jobs()] == [kept.id]


def test_a_savepoint_of_sqlalchemy_takes_the_job_with_it(app, connect, url):
    own = connect(SqlalchemyAsyncpg, url)

    async def main():
        kept = await app.aenqueue("ship", connection=own.given)
        savepoint = await own.given.begin_nested()
        await app.aenqueue("ship", connection=own.given)
        await savepoint.rollback()
        await own.given.commit()
        return kept

    kept = own.run(main())
    assert [job.id for job in app.jobs()] == [kept.id]


def test_nothing_is_left_in_the_callers_session(app, connect, url, send):
    own = connect(Psycopg, url)
    own.enqueue_many(app, [send.call(to="a"), send.call(to="b")])
    own.commit()
    left = own.given.execute("select count(*) from pg_class where relname like 'holdfast_incoming%'").fetchone()
    assert left == (0,)


def test_a_server_that_was_started_anew_is_known_again(app, connect, url):
    own = connect(Psycopg, url)
    own.enqueue(app, "ship")
    app.desk.store._joins._place = (0, 0, 0)
    assert own.enqueue(app, "ship").created
