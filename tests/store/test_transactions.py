from __future__ import annotations

import psycopg
import pytest

from holdfast.model.errors import KeyConflict, StoreError
from holdfast.model.request import NewJob
from holdfast.store.sqlite.schema import MIGRATIONS
from tests.servers.postgres import server
from tests.store.given import NOON, claim, enqueue, get, is_postgres, listed, status


def make(tx, **options):
    return tx.insert([NewJob("mail", "{}", **options)])[0][0]


def connect(store):
    """The application's own connection to the store's database."""
    if is_postgres(store):
        return psycopg.connect(store.url, autocommit=True)
    path = store.location.path
    if store.location.driver == "apsw":
        import apsw

        return apsw.Connection(path)
    import sqlite3

    return sqlite3.connect(path, isolation_level=None)


@pytest.fixture
def own(store):
    store.migrate()
    connection = connect(store)
    yield connection
    connection.close()


def test_a_transaction_opened_by_hand_is_seen_after_its_commit(store, other):
    transaction = store.begin()
    job_id = make(transaction, queue="gpu")
    assert listed(other) == []
    news = store.commit()
    assert listed(other) == [job_id]
    assert news.queues == {"gpu"}


def test_a_transaction_rolled_back_leaves_nothing(store):
    make(store.begin())
    store.roll_back()
    assert listed(store) == []
    assert enqueue(store)


def test_a_roll_back_without_a_transaction_does_nothing(store):
    store.roll_back()
    assert listed(store) == []


def test_the_applications_own_statements_commit_with_the_job(store, other):
    transaction = store.begin()
    transaction.execute("create table mine (x integer)")
    transaction.execute(f"insert into mine values ({'%s' if is_postgres(store) else '?'})", (7,))
    job_id = make(transaction)
    store.commit()
    assert other.read(lambda tx: [tuple(row) for row in tx.execute("select x from mine")]) == [(7,)]
    assert status(other, job_id) == "queued"


def test_a_transaction_may_hold_any_verbs(store):
    transaction = store.begin()
    job_id = make(transaction)
    assert transaction.now == NOON
    transaction.pause("gpu", "ann")
    transaction.cancel(
        job_id, tenant=None, graceful=False, error='{"class":"Cancelled","message":"","code":"CANCELLED"}'
    )
    store.commit()
    assert status(store, job_id) == "cancelled"


def test_a_job_on_the_callers_connection_is_seen_after_the_callers_commit(store, own):
    own.execute("begin")
    job_id = make(store.join(own))
    assert listed(store) == []
    own.execute("commit")
    assert listed(store) == [job_id]
    assert [run.id for run in claim(store)] == [job_id]


def test_the_callers_roll_back_takes_the_job_with_it(store, own):
    own.execute("begin")
    make(store.join(own))
    own.execute("rollback")
    assert listed(store) == []


def test_a_duplicate_on_the_callers_connection_leaves_the_callers_transaction_whole(store, own):
    job_id = enqueue(store, key="k")
    own.execute("begin")
    joined = store.join(own)
    assert joined.insert([NewJob("mail", "{}", key="k")]) == [(job_id, False)]
    with pytest.raises(KeyConflict):
        joined.insert([NewJob("mail", "[1]", key="k")])
    new = make(joined)
    own.execute("commit")
    assert set(listed(store)) == {job_id, new}


def test_an_error_on_the_callers_connection_stays_the_callers(store, own):
    joined = store.join(own)
    with pytest.raises(Exception, match="nonsense") as caught:
        joined.execute("nonsense")
    assert not isinstance(caught.value, StoreError)
    assert is_postgres(store) or not joined.connection.is_ours(caught.value)


def test_a_connection_of_another_library_is_refused(store):
    import sqlite3

    import apsw

    driver = "" if is_postgres(store) else store.location.driver
    foreign = apsw.Connection(":memory:") if driver == "sqlite3" else sqlite3.connect(":memory:")
    with pytest.raises(StoreError) as caught:
        store.join(foreign)
    foreign.close()
    assert caught.value.code == "WRONG_CONNECTION"


def test_something_that_is_no_connection_is_refused(store):
    with pytest.raises(StoreError, match="cannot carry"):
        store.join(object())


def test_a_connection_of_a_class_derived_by_the_application_is_taken(store):
    store.migrate()
    base = type(connect_and_close(store))

    class Derived(base):
        pass

    connection = Derived.connect(store.url) if is_postgres(store) else Derived(store.location.path)
    job_id = make(store.join(connection))
    if not is_postgres(store) and store.location.driver == "apsw":
        connection.execute("begin")
    connection.execute("commit")
    connection.close()
    assert listed(store) == [job_id]


def test_a_connection_to_another_database_is_refused(store, tmp_path):
    kind = type(connect_and_close(store))
    another = psycopg.connect(server().url) if is_postgres(store) else kind(str(tmp_path / "another.db"))
    with pytest.raises(StoreError) as caught:
        store.join(another)
    another.close()
    assert caught.value.code == "WRONG_CONNECTION"


def connect_and_close(store):
    store.migrate()
    connection = connect(store)
    connection.close()
    return connection


def test_a_store_makes_its_schema_once(store, other):
    assert store.migrate() == (0 if is_postgres(store) else len(MIGRATIONS))  # there a person has made it before
    assert store.migrate() == 0
    assert other.migrate() == 0


def test_a_closed_store_opens_again_when_it_is_needed(store):
    job_id = enqueue(store)
    store.close()
    store.close(keep_log=True)
    assert get(store, job_id).id == job_id
    store.close(keep_log=True)
    assert get(store, job_id).id == job_id


def test_a_store_closed_in_the_middle_of_a_transaction_has_written_nothing(store, other):
    make(store.begin())
    store.close()
    assert listed(other) == []
    store.roll_back()
    assert enqueue(store)


def test_an_abandoned_store_forgets_its_connections_and_leaves_them_open(store, other):
    job_id = enqueue(store)
    writer = store._writer
    store.abandon()
    assert (store._writer, store._reader) == (None, None)
    assert [tuple(row) for row in writer.execute("select 1")] == [(1,)]
    assert get(other, job_id).id == job_id
    writer.close()


def test_all_that_one_call_reads_is_of_one_moment(store, other):
    enqueue(store)

    def look(tx):
        before = len(tx.list_jobs({}, "~", 10)[0])
        enqueue(other)
        return before, len(tx.list_jobs({}, "~", 10)[0])

    assert store.read(look) == (1, 1)
    assert len(listed(store)) == 2
