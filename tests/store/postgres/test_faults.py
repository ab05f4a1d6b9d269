"""What happens when the server goes, hangs, refuses or is in the way."""

from __future__ import annotations

import os
import threading
from time import monotonic

import psycopg
import pytest

from holdfast.model.errors import StoreError
from holdfast.model.request import NewJob
from holdfast.store.postgres.connection import Connection, translate
from holdfast.store.postgres.location import Location
from holdfast.store.postgres.store import TRIES
from tests.store.given import DONE, claim, enqueue, finish, get, listed, running, write
from tests.store.postgres.blackhole import Proxy


def put(tx):
    return tx.insert([NewJob("mail", "{}")])


@pytest.fixture
def behind_proxy(open_url, admin, tmp_path):
    own = admin.info
    with Proxy(admin, tmp_path) as proxy:
        url = f"postgresql://{own.user}:{own.password}@/{own.dbname}?host={tmp_path}&deadline=1"
        yield proxy, open_url(url, patience=1)


def refusal(call):
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value


def test_a_server_that_is_not_there_is_told_in_one_line():
    error = refusal(lambda: Connection.open(Location("postgresql://127.0.0.1:1/jobs")))
    assert error.code == "STORE_UNAVAILABLE"
    assert "Connection refused Is the server running" in str(error)
    assert str(error).isprintable()


@pytest.mark.parametrize(
    ("place", "advice"),
    [
        ("{user}:{password}@/shopp", 'database "shopp" does not exist; make it with createdb, or check the name'),
        ("bob:{password}@/{dbname}", 'role "bob" does not exist; check the user'),
    ],
)
def test_a_server_that_runs_is_not_suspected_when_a_name_is_wrong(admin, place, advice):
    own = admin.info
    where = place.format(user=own.user, password=own.password, dbname=own.dbname)
    error = refusal(lambda: Connection.open(Location(f"postgresql://{where}?host={own.host}&port={own.port}")))
    assert error.code == "STORE_UNAVAILABLE"
    assert str(error).endswith(advice)


def test_a_connection_lost_between_two_calls_is_opened_again(pg, kill):
    job_id = enqueue(pg)
    assert get(pg, job_id)
    kill(pg._writer)
    kill(pg._reader)
    assert claim(pg)[0].id == job_id
    assert get(pg, job_id).status == "in_progress"


def test_a_connection_lost_during_a_call_is_told_and_the_next_call_works(pg, kill):
    def die(tx):
        put(tx)
        kill(tx.connection)
        return put(tx)

    assert refusal(lambda: write(pg, die)).code == "STORE_UNAVAILABLE"
    assert listed(pg) == []
    assert enqueue(pg)


def test_a_group_whose_connection_is_lost_is_told_as_one_and_not_repeated(pg, kill):
    runs = []

    def die(tx):
        runs.append(put(tx))
        kill(tx.connection)
        return put(tx)

    answers, news = pg.write([put, die])
    assert [answer.code for answer in answers] == ["STORE_UNAVAILABLE"] * 2
    assert not news
    assert len(runs) == 1
    assert listed(pg) == []


def test_a_loss_before_the_commit_was_made_says_that_nothing_was_written(pg, kill):
    def die(tx):
        put(tx)
        kill(tx.connection)

    error = refusal(lambda: write(pg, die))
    assert error.code == "STORE_UNAVAILABLE"
    assert "nothing was written" in str(error)
    assert listed(pg) == []


def test_a_commit_that_was_made_and_not_answered_is_found_out(behind_proxy, pg):
    proxy, store = behind_proxy

    def put_and_fall_silent(tx):
        made = put(tx)
        proxy.mute()
        return made

    (answer,), news = store.write([put_and_fall_silent])
    assert listed(pg) == [answer[0][0]]
    assert news.queues == {"default"}


def test_a_commit_that_made_no_job_is_told_as_not_known(behind_proxy):
    proxy, store = behind_proxy

    def pause_and_fall_silent(tx):
        tx.pause("default", "ann")
        proxy.mute()

    assert "not known" in str(refusal(lambda: write(store, pause_and_fall_silent)))


def test_where_one_connection_fell_silent_the_other_is_not_waited_for(behind_proxy):
    proxy, store = behind_proxy
    first = enqueue(store)
    assert listed(store) == [first]
    proxy.mute()  # from now on only new connections work
    assert listed(store) == [first]
    begin = monotonic()
    assert enqueue(store)
    assert monotonic() - begin < 1


def test_a_number_that_was_given_to_another_transaction_after_a_crash_proves_nothing(pg):
    enqueue(pg)
    assert pg._became(pg._mark, "0" * 26) == "aborted"


def test_a_transaction_that_has_not_ended_is_waited_for_and_no_longer_than_patience_lasts(url, open_url):
    store = open_url(url, patience=0.1)
    other = open_url(url)
    made = put(other.begin())[0][0]
    assert store._became(other._mark, made) is None
    other.commit()
    assert store._became(other._mark, made) == "committed"


def test_a_commit_that_nobody_can_tell_of_is_told_as_not_known(behind_proxy):
    proxy, store = behind_proxy

    def put_and_vanish(tx):
        put(tx)
        proxy.swallow()

    error = refusal(lambda: write(store, put_and_vanish))
    assert error.code == "STORE_UNAVAILABLE"
    assert "not known" in str(error)


def test_who_asks_what_became_of_a_commit_leaves_the_readers_connection_alone(behind_proxy, pg):
    """Another thread may be in the middle of a read on it."""
    proxy, store = behind_proxy
    listed(store)

    def put_and_fall_silent(tx):
        made = put(tx)
        proxy.mute()
        return made

    reader = store._reader
    write(store, put_and_fall_silent)
    assert store._reader is reader
    assert not reader.is_lost()
    assert len(listed(pg)) == 1


def test_what_other_sessions_hear_is_not_kept(pg, admin):
    """Behind a pooler a session that somebody made listen may serve anyone."""
    write(pg, lambda tx: tx.execute("listen holdfast"))
    for number in range(20):
        admin.execute("select pg_notify('holdfast', %s)", (str(number),))
        assert get(pg, enqueue(pg))
    assert not pg._writer.raw._notifies_backlog


def test_a_loss_while_nothing_is_written_ends_in_a_roll_back(pg, kill):
    transaction = pg.begin()
    kill(transaction.connection)
    pg.roll_back()
    assert enqueue(pg)


def test_a_loss_while_reading_is_told(pg, kill):
    def die(tx):
        kill(tx.connection)
        return tx.get("0")

    assert refusal(lambda: pg.read(die)).code == "STORE_UNAVAILABLE"
    assert listed(pg) == []


def test_a_server_that_is_gone_is_told_to_every_call_of_a_group(open_url, tmp_path):
    store = open_url(f"postgresql:///jobs?host={tmp_path}")
    answers, news = store.write([put, put])
    assert [answer.code for answer in answers] == ["STORE_UNAVAILABLE"] * 2
    assert not news
    assert refusal(lambda: listed(store)).code == "STORE_UNAVAILABLE"


def test_a_statement_that_takes_too_long_is_ended_by_the_server(open_url, url):
    store = open_url(f"{url}&deadline=1")
    error = refusal(lambda: write(store, lambda tx: tx.execute("select pg_sleep(30)")))
    assert error.code == "STORE_UNAVAILABLE"
    assert "too long" in str(error)
    assert enqueue(store)


def test_a_server_that_falls_silent_holds_no_caller_beyond_the_deadline(behind_proxy):
    proxy, store = behind_proxy
    job_id = enqueue(store)
    proxy.swallow()
    started = monotonic()
    assert refusal(lambda: enqueue(store)).code == "STORE_UNAVAILABLE"
    assert monotonic() - started < 12
    proxy.heal()
    assert get(store, job_id).id == job_id


def test_two_that_wait_for_each_other_both_end(pg, url, open_url):
    other = open_url(url)
    first, second = running(pg), running(pg)
    meet = threading.Barrier(2, timeout=10)
    met = []

    def cross(store, one, two):
        def call(tx):
            tx.progress(one.id, one.token, "1")
            if threading.get_ident() not in met:
                met.append(threading.get_ident())
                meet.wait()
            return tx.progress(two.id, two.token, "1")

        assert write(store, call)

    threads = [
        threading.Thread(target=cross, args=(pg, first, second)),
        threading.Thread(target=cross, args=(other, second, first)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert get(pg, first.id).version == get(pg, second.id).version == 4


def test_a_transaction_that_never_gets_through_gives_up(pg):
    tries = []

    def fail(tx):
        tries.append(1)
        tx.execute("do $$ begin raise exception sqlstate '40001'; end $$")

    assert refusal(lambda: write(pg, fail)).code == "STORE_UNAVAILABLE"
    assert len(tries) == TRIES


def test_a_constraint_that_is_checked_at_the_end_is_told(pg):
    def late(tx):
        tx.execute("create table mine (x integer unique deferrable initially deferred)")
        tx.execute("insert into mine values (1), (1)")

    assert refusal(lambda: write(pg, late)).code == "STORE_REFUSED"
    assert enqueue(pg)


def test_a_server_that_takes_no_writes_is_told(pg):
    def write_anyway(tx):
        tx.execute("set transaction read only")
        return put(tx)

    assert refusal(lambda: write(pg, write_anyway)).code == "STORE_READ_ONLY"


def test_a_row_that_is_refused_is_not_shown_in_the_error(pg):
    enqueue(pg, payload='{"card":"4111"}')
    told = refusal(lambda: write(pg, lambda tx: tx.execute("update job_queue set priority = 99")))
    assert (told.code, "priority" in str(told), "4111" in str(told)) == ("STORE_REFUSED", True, False)


def test_a_standby_that_cannot_even_begin_to_write_is_told_as_one(pg):
    enqueue(pg)
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        pg._writer.begin("do $$ begin raise exception sqlstate '0A000'; end $$")


def test_a_transaction_that_was_left_broken_refuses_the_next_until_it_is_undone(pg):
    transaction = pg.begin()
    with pytest.raises(psycopg.Error):
        transaction.execute("nonsense")
    assert refusal(pg.begin).code == "STORE_REFUSED"
    pg.roll_back()
    assert enqueue(pg)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (psycopg.errors.DiskFull(), "STORE_FULL"),
        (psycopg.errors.DataCorrupted(), "STORE_CORRUPT"),
        (psycopg.errors.AdminShutdown(), "STORE_UNAVAILABLE"),
        (psycopg.errors.DeadlockDetected(), "STORE_UNAVAILABLE"),
        (psycopg.errors.IdleInTransactionSessionTimeout(), "STORE_UNAVAILABLE"),
        (psycopg.errors.UndefinedTable(), "STORE_REFUSED"),
    ],
)
def test_an_error_of_the_server_has_a_code_of_ours(pg, error, code):
    assert translate(error, pg.location).code == code


def test_a_forked_child_leaves_the_parents_connection_alone(pg):
    run = running(pg)
    child = os.fork()
    if child == 0:  # pragma: no cover  # seen from the parent
        try:
            pg.abandon()
            ended = finish(pg, run, DONE)
            pg.close()
            os._exit(0 if ended else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert pg._writer.execute("select 1") == [(1,)]
    assert get(pg, run.id).status == "completed"


def test_a_lone_job_is_sent_again_when_its_connection_is_lost(pg, kill):
    pg.insert_alone(NewJob("mail", "{}"))
    kill(pg._writer)
    (job_id, created), _ = pg.insert_alone(NewJob("mail", "{}", key="k"))
    assert created
    assert len(listed(pg)) == 2
    kill(pg._writer)
    assert pg.insert_alone(NewJob("mail", "{}", key="k"))[0] == (job_id, False)


def test_a_lone_job_whose_answer_was_lost_is_stored_once(behind_proxy, pg):
    proxy, store = behind_proxy
    store.insert_alone(NewJob("mail", "{}"))
    proxy.mute()
    (job_id, created), _ = store.insert_alone(NewJob("mail", "{}"))
    assert created
    assert len(listed(pg)) == 2
    assert get(pg, job_id)


def test_a_lone_job_of_which_nothing_can_be_known_is_told_so(behind_proxy, pg):
    proxy, store = behind_proxy
    store.insert_alone(NewJob("mail", "{}"))
    proxy.swallow()
    error = refusal(lambda: store.insert_alone(NewJob("mail", "{}")))
    assert error.code == "STORE_UNAVAILABLE"
    assert "not known whether" in str(error)
    proxy.heal()
    assert len(listed(pg)) == 1


def test_a_lone_job_is_sent_until_the_server_is_back(open_url, admin, tmp_path, pg):
    own = admin.info
    with Proxy(admin, tmp_path) as proxy:
        url = f"postgresql://{own.user}:{own.password}@/{own.dbname}?host={tmp_path}&deadline=1"
        store = open_url(url, patience=30)
        store.insert_alone(NewJob("mail", "{}"))
        proxy.swallow()
        healing = threading.Timer(4, proxy.heal)
        healing.start()
        assert store.insert_alone(NewJob("mail", "{}"))[0][1]
        healing.join()
    assert len(listed(pg)) == 2
