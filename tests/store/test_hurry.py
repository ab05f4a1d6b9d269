"""Who is to leave waits for nobody, not even where the wait has begun."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import contextmanager

import apsw
import psycopg
import pytest

from holdfast.model.errors import StoreError
from tests.patience import within
from tests.store.given import EVERY_WAY, NOON, WAYS, is_postgres


@pytest.fixture(params=EVERY_WAY)
def store(request, tmp_path):
    made = WAYS[request.param](tmp_path, lambda: NOON)
    yield made
    made.close()


@contextmanager
def locked(store):
    """Another program holds what every writer needs."""
    if is_postgres(store):
        with psycopg.connect(store.location.conninfo) as other:
            other.execute("lock table job_queue in access exclusive mode")
            yield
            other.rollback()
        return
    # By both libraries: inside one process they do not see each other's locks.
    others = [apsw.Connection(store.location.path), sqlite3.connect(store.location.path, isolation_level=None)]
    for other in others:
        other.execute("begin immediate")
    yield
    for other in others:
        other.execute("rollback")
        other.close()


def look(tx):
    return tx.lead("me", 1_000) and tx.depth("default", 10)


def test_a_store_that_hurries_waits_no_longer_for_others(store):
    (answer,), _ = store.write([look])
    assert answer == 0
    store.hurry(0.3)
    with locked(store):
        begun = time.monotonic()
        (answer,), _ = store.write([look])
        assert time.monotonic() - begun < within(3)
    assert isinstance(answer, StoreError)
    assert answer.code == "STORE_UNAVAILABLE"
    (answer,), _ = store.write([look])
    assert answer == 0


def test_a_wait_that_has_begun_is_cut_short(store):
    store.write([look])
    answers = []
    with locked(store):
        waiting = threading.Thread(target=lambda: answers.extend(store.write([look])[0]))
        waiting.start()
        time.sleep(0.3)
        assert not answers
        store.hurry(0.1)
        begun = time.monotonic()
        waiting.join()
        assert time.monotonic() - begun < within(3)
    assert answers[0].code == "STORE_UNAVAILABLE"


def test_what_is_taken_briefly_meets_a_lock_and_goes(store):
    store.write([look])
    if is_postgres(store):  # which has no lock of all writes
        assert store.write([look], hastily=True, briefly=True)[0] == [0]
        return
    with locked(store):
        begun = time.monotonic()
        (answer,), _ = store.write([look], hastily=True, briefly=True)
        assert time.monotonic() - begun < within(1)
    assert answer.code == "STORE_UNAVAILABLE"
    assert store.write([look], hastily=True, briefly=True)[0] == [0]
