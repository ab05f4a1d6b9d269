"""Enqueue inside a transaction: Holdfast's own, or one on the caller's connection."""

# A transaction that is left by an error is one block.
# ruff: noqa: PT012

from __future__ import annotations

import sqlite3

import apsw
import pytest

import holdfast

STANDARD_LIBRARY = "driver=sqlite3&allow_unsafe_sqlite=1&synchronous=normal"


class Sabotage(Exception):
    pass


@pytest.fixture
def mine(tmp_path, app):
    """The caller's own apsw connection to the same file."""
    app.statistics()  # the tables stand before the caller's transaction begins
    connection = apsw.Connection(str(tmp_path / "jobs.db"))
    yield connection
    connection.close()


@pytest.fixture
def standard(make_app):
    return make_app(STANDARD_LIBRARY)


@pytest.fixture
def theirs(tmp_path, standard):
    """The caller's own connection of the standard library to the same file."""
    standard.statistics()
    connection = sqlite3.connect(tmp_path / "jobs.db")
    yield connection
    connection.close()


def test_jobs_and_the_caller_s_rows_commit_together(app, thumbnail):
    with app.transaction() as tx:
        tx.execute("create table orders (id integer primary key, state text)")
        tx.execute("insert into orders values (:id, 'new')", {"id": 7})
        handle = thumbnail.enqueue(path="a")
    assert app.get(handle.id).status == "queued"
    with app.transaction() as tx:
        assert tx.execute("select id, state from orders") == [(7, "new")]


def test_a_roll_back_takes_every_job_with_it(app, thumbnail):
    with pytest.raises(Sabotage), app.transaction():
        thumbnail.enqueue(path="a")
        app.enqueue("elsewhere")
        app.enqueue_many([thumbnail.call(path="b")])
        raise Sabotage
    assert app.jobs() == []


async def test_a_coroutine_s_enqueue_joins_its_transaction(app, thumbnail):
    with pytest.raises(Sabotage), app.transaction():
        await thumbnail.aenqueue(path="a")
        await app.aenqueue("elsewhere")
        raise Sabotage
    assert app.jobs() == []


def test_inside_a_transaction_its_own_jobs_are_seen_and_can_be_cancelled(app, thumbnail):
    with app.transaction():
        handle = thumbnail.enqueue(path="a")
        assert handle.status() == "queued"
        assert [job.id for job in app.jobs()] == [handle.id]
        handle.cancel()
    assert handle.status() == "cancelled"


def test_transactions_of_two_applications_are_apart(app, make_app, tmp_path):
    with holdfast.App(f"sqlite:///{tmp_path}/other.db") as other:
        with pytest.raises(Sabotage), app.transaction():
            other.enqueue("kept")
            app.enqueue("lost")
            raise Sabotage
        assert [job.type for job in other.jobs()] == ["kept"]
    assert app.jobs() == []


def test_transactions_do_not_nest(app):
    with app.transaction(), pytest.raises(holdfast.BadInput, match="do not nest"), app.transaction():
        pass


def test_an_error_of_the_caller_s_own_statement_rolls_back(app, thumbnail):
    with pytest.raises(apsw.SQLError), app.transaction() as tx:
        thumbnail.enqueue(path="a")
        tx.execute("select * from no_such_table")
    assert app.jobs() == []


def test_on_the_caller_s_connection_the_caller_commits(app, thumbnail, mine):
    with mine:
        mine.execute("create table orders (id)")
        handle = app.enqueue("thumbnail", {"path": "a"}, connection=mine)
        with pytest.raises(holdfast.NotFound):
            app.get(handle.id)
    assert app.get(handle.id).payload == {"path": "a"}


def test_on_the_caller_s_connection_a_roll_back_takes_the_job(app, thumbnail, mine):
    with pytest.raises(Sabotage), mine:
        app.enqueue("thumbnail", {"path": "a"}, connection=mine)
        app.enqueue_many([thumbnail.call(path="b"), thumbnail.call(path="c")], connection=mine)
        raise Sabotage
    assert app.jobs() == []


def test_keys_work_on_the_caller_s_connection(app, mine):
    with mine:
        first = app.enqueue("elsewhere", {"a": 1}, key="k", connection=mine)
        again = app.enqueue("elsewhere", {"a": 1}, key="k", connection=mine)
    assert (first.created, again.created, again.id) == (True, False, first.id)


def test_a_refused_bulk_on_the_caller_s_connection_stores_none_of_its_jobs(app, thumbnail, mine):
    thumbnail.using(key="k").enqueue(path="a")
    keyed = [thumbnail.using(key="free").call(path="b"), thumbnail.using(key="k").call(path="c")]
    with mine, pytest.raises(holdfast.KeyConflict):
        app.enqueue_many(keyed, connection=mine)
    assert len(app.jobs()) == 1


def test_a_connection_of_the_standard_library_carries_jobs_where_the_store_uses_it(standard, theirs):
    handle = standard.enqueue("elsewhere", {"a": 1}, connection=theirs)
    theirs.rollback()
    with pytest.raises(holdfast.NotFound):
        standard.get(handle.id)
    handle = standard.enqueue("elsewhere", {"a": 1}, connection=theirs)
    theirs.commit()
    assert standard.get(handle.id).payload == {"a": 1}


def test_the_whole_way_works_with_the_standard_library(standard):
    with standard.transaction() as tx:
        tx.execute("create table orders (id)")
        handle = standard.enqueue("elsewhere", key="k")
    assert standard.get(handle.id).status == "queued"
    assert standard.cancel(handle.id)["status"] == "cancelled"
    assert standard.statistics()["lines"] == []


@pytest.mark.parametrize("kind", ["sqlite3", "nothing known"])
def test_a_connection_of_another_library_is_refused(app, kind):
    connection = sqlite3.connect(":memory:") if kind == "sqlite3" else object()
    try:
        with pytest.raises(holdfast.StoreError, match=r"use app.transaction\(\)|Use app.transaction\(\)") as caught:
            app.enqueue("elsewhere", connection=connection)
    finally:
        getattr(connection, "close", int)()
    assert caught.value.code == "WRONG_CONNECTION"


def test_an_apsw_connection_is_refused_where_the_store_uses_the_standard_library(standard):
    connection = apsw.Connection(":memory:")
    with pytest.raises(holdfast.StoreError) as caught:
        standard.enqueue("elsewhere", connection=connection)
    connection.close()
    assert caught.value.code == "WRONG_CONNECTION"


def test_a_connection_to_another_file_is_refused(app, tmp_path):
    connection = apsw.Connection(str(tmp_path / "other.db"))
    try:
        with pytest.raises(holdfast.StoreError) as caught:
            app.enqueue("elsewhere", connection=connection)
    finally:
        connection.close()
    assert caught.value.code == "WRONG_CONNECTION"


def test_a_closed_application_says_so_on_the_caller_s_connection_too(app, mine):
    app.close()
    with pytest.raises(holdfast.StoreError) as caught:
        app.enqueue("elsewhere", connection=mine)
    assert caught.value.code == "STORE_CLOSED"


def test_workers_can_be_told_of_jobs_that_the_caller_committed(app, mine):
    told = []
    app.desk.listeners.append(lambda news: told.append(set(news.queues)))
    with mine:
        app.enqueue("elsewhere", queue="images", connection=mine)
    assert told == []
    app.notify("images")
    app.notify()
    assert told == [{"images"}, {"default"}]


@pytest.mark.parametrize(
    "statement",
    [
        "commit", " COMMIT;", "end", "rollback", "begin", "begin immediate", "savepoint a", "release a", "rollback to a",
        "-- a word first\ncommit", "/* and\nanother */ commit", "select 1; commit", "select ';' ; rollback",
        "create trigger t after insert on notes begin select 1; end; commit",
    ],
)  # fmt: skip
def test_a_statement_that_would_end_the_transaction_is_refused(app, statement):
    with app.transaction() as tx:
        tx.execute("create table notes (text)")
    with pytest.raises(Sabotage), app.transaction() as tx:
        tx.execute("insert into notes values ('kept back')")
        with pytest.raises(holdfast.BadInput, match="cannot be sent here: the block commits when it is left"):
            tx.execute(statement)
        raise Sabotage
    with app.transaction() as tx:
        assert tx.execute("select * from notes") == []


@pytest.mark.parametrize(
    "statement",
    [
        "select 1;", ";select 1", "select 'commit'", "select 1 -- ; commit", "insert into notes values ('; rollback')", 'select 1 as "end"',
        "select case when 1 then 2 end", "update notes set text = 'begin'",
        "create temp trigger t after insert on notes begin update notes set text = 'x'; select 1; end",
    ],
)  # fmt: skip
def test_the_words_are_free_where_they_end_nothing(app, statement):
    with app.transaction() as tx:
        tx.execute("create table notes (text)")
        tx.execute(statement)
        tx.execute("select 1")


def test_a_statement_is_text(app):
    with app.transaction() as tx, pytest.raises(holdfast.BadInput, match="a statement is text, not int"):
        tx.execute(5)
