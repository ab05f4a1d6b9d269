"""Claims while others claim: what is locked is passed by, and nothing that is free is missed."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from time import monotonic

import psycopg
import pytest

from holdfast.model import stamp
from holdfast.model.decide import Move
from holdfast.model.errors import StoreError
from holdfast.model.lease import Lane
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Ending, Order
from tests.store.given import DONE, LEASE, MAIL, NOON, claim, enqueue, finish, get, insert, recover, running, write

PRINT = Lane("default", "print")


@pytest.fixture
def held(admin, url):
    """Locks rows from outside, as a claim that has not committed yet."""
    with psycopg.connect(url) as connection:

        def hold(*ids):
            connection.execute("select from job_queue where id = any (%s) for update", (list(ids),))

        hold.let_go = connection.rollback
        yield hold


def test_a_claim_passes_by_what_another_has_in_its_hands(pg, held):
    first, second, third = (answer.id for answer in insert(pg, *(NewJob("mail", "{}") for _ in range(3))))
    held(first)
    assert [run.id for run in claim(pg, limit=2)] == [second, third]


def test_a_claim_whose_whole_batch_is_held_takes_the_next(pg, held):
    ids = [answer.id for answer in insert(pg, *(NewJob("mail", "{}") for _ in range(5)))]
    held(*ids[:2])
    assert [run.id for run in claim(pg, limit=2)] == ids[2:4]
    held.let_go()
    assert [run.id for run in claim(pg)] == [*ids[:2], ids[4]]


def test_a_claim_that_was_too_late_goes_on_to_other_lanes_and_priorities(pg, held):
    taken = enqueue(pg, priority=1)
    mail, letter, late = enqueue(pg, priority=5), enqueue(pg, "print", priority=5), enqueue(pg, priority=9)
    held(taken)
    assert {run.id for run in claim(pg, MAIL, PRINT, limit=2)} == {mail, letter}
    assert [run.id for run in claim(pg, MAIL, PRINT, limit=2)] == [late]


def test_a_claim_that_was_too_late_locks_no_more_than_it_takes(pg, held, url, open_url):
    ids = [answer.id for answer in insert(pg, *(NewJob("mail", "{}") for _ in range(9)))]
    held(ids[0])
    transaction = pg.begin()
    first = [run.id for run in transaction.claim(Order("first", [MAIL], 2, 60_000))]
    second = [run.id for run in claim(open_url(url, clock=lambda: NOON), limit=9)]
    pg.commit()
    assert first == ids[1:3]
    assert second == ids[3:]


def test_the_watchdog_does_not_wait_for_a_run_that_another_has_in_its_hands(pg, held, url, open_url):
    stuck, free = running(pg), running(pg)
    later = open_url(url, clock=lambda: NOON + LEASE + 1)
    held(stuck.id)  # as a worker that was cut off between its finish and its commit
    begin = monotonic()
    assert recover(later) == [False, True]
    assert monotonic() - begin < 5
    assert [get(pg, run.id).status for run in (stuck, free)] == [Status.IN_PROGRESS, Status.QUEUED]
    held.let_go()
    assert recover(later) == [True]


def test_a_worker_that_falls_silent_in_mid_transaction_lets_go_of_its_rows_within_seconds(pg):
    limits = []

    def look(tx):
        limits.extend(tx.execute("show idle_in_transaction_session_timeout")[0])

    pg.write([look])
    pg.write([look, look])
    look(pg.begin())  # a caller's own block may think for longer
    pg.roll_back()
    assert limits == ["5s", "5s", "5s", "1min"]


def test_many_workers_finish_and_count_at_once(pg, url, open_url):
    insert(pg, *(NewJob("mail", "{}") for _ in range(120)))
    stores = [open_url(url) for _ in range(4)]
    done = []

    def work(store):
        while runs := claim(store, owner=str(id(store)), limit=7):
            done.extend(run.id for run in runs if finish(store, run, DONE))

    threads = [threading.Thread(target=work, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == len(set(done)) == 120
    counted = pg.read(lambda tx: tx.figures(0))
    assert sum(count for *_, measure, _, count in counted if measure == "run") == 120


def test_callers_with_the_same_key_get_the_same_job(pg, url, open_url):
    stores = [open_url(url) for _ in range(4)]
    answers = []

    def put(store, number):
        keys = [f"k{(number + step) % 6}" for step in range(6)]
        answers.append(dict(zip(keys, insert(store, *(NewJob("mail", "{}", key=key) for key in keys)), strict=True)))

    threads = [threading.Thread(target=put, args=(store, number)) for number, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for key in answers[0]:
        assert len({each[key].id for each in answers}) == 1
        assert sum(each[key].created for each in answers) == 1


def test_a_bulk_insert_on_a_connection_without_a_transaction_is_whole(pg, url):
    with psycopg.connect(url, autocommit=True) as own:
        made = pg.join(own).insert([NewJob("mail", f"[{n}]") for n in range(3)])
        again = pg.join(own).insert([NewJob("mail", "{}"), NewJob("mail", "{}")])
    assert [get(pg, job_id).payload for job_id, _ in made] == [[0], [1], [2]]
    assert all(created for _, created in again)


def test_an_async_connection_is_refused(pg):
    with pytest.raises(StoreError, match="is for coroutines"):
        pg.join(psycopg.AsyncConnection.__new__(psycopg.AsyncConnection))


def test_time_comes_from_the_database(url, pg, open_url):
    store = open_url(url)
    before = store.now()
    job = get(store, enqueue(store))
    assert before <= stamp.from_datetime(job.created_at) <= store.now()
    assert abs(store.now() - stamp.from_datetime(datetime.now(UTC))) < 60_000
    with psycopg.connect(url) as own:
        joined = store.join(own)
        assert before <= joined.now <= store.now()


def test_the_sessions_time_zone_and_style_change_nothing(url, pg, open_url):
    job_id = enqueue(pg, delay=90)
    strange = open_url(f"{url}&options=-c%20timezone%3DAsia/Kathmandu%20-c%20datestyle%3DGerman", clock=lambda: NOON)
    assert get(strange, job_id) == get(pg, job_id)
    assert claim(strange) == []


def test_text_of_every_kind_survives_the_way(pg):
    error = '{"class":"O\'Brien \\\\ \\"x\\" {a,b}","message":"NULL","code":"X"}'
    run = running(pg, queue='q "{}" \\ ,null', tenant="NULL", group="ü")
    assert write(pg, lambda tx: tx.finish([Ending(run, Move(Status.FAILED, '"\\u0000 \\\\"', error, why="a,b"))])) == [
        True
    ]
    job = get(pg, run.id)
    assert job.result == "\0 \\"
    assert job.error["class"] == 'O\'Brien \\ "x" {a,b}'
    (line,) = pg.read(lambda tx: tx.history(run.id))
    assert line["error_class"] == 'O\'Brien \\ "x" {a,b}'
