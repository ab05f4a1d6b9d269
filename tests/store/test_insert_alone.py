"""One job in a transaction of its own: the shortest way, with the same promises."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from holdfast.model import stamp
from holdfast.model.errors import KeyConflict, StoreError
from holdfast.model.request import NewJob
from tests.store.given import DONE, HOUR, MINUTE, NOON, claim, ended, get, insert, listed


def test_it_is_stored_as_any_other(store):
    def one():
        return NewJob(
            "mail", '{"to":"ann"}', queue="gpu", priority=2, group="g", tenant="acme", max_attempts=7, timeout=9
        )

    (job_id, created), news = store.insert_alone(one())
    assert created
    assert news.queues == {"gpu"}
    assert replace(get(store, job_id), id="") == replace(get(store, insert(store, one())[0].id), id="")


def test_it_is_due_when_it_is_said_to_be(store):
    later, _ = store.insert_alone(NewJob("mail", "{}", delay=60))
    fixed, _ = store.insert_alone(NewJob("mail", "{}", scheduled_at=stamp.to_datetime(NOON + HOUR)))
    assert get(store, later[0]).scheduled_at == stamp.to_datetime(NOON + MINUTE)
    assert get(store, fixed[0]).scheduled_at == stamp.to_datetime(NOON + HOUR)
    assert claim(store) == []


@pytest.mark.parametrize("window", [None, "active", 3600])
def test_a_taken_key_answers_its_job_and_another_request_is_refused(store, window):
    (first, created), _ = store.insert_alone(NewJob("mail", "{}", key="k", key_window=window))
    (second, again), _ = store.insert_alone(NewJob("mail", "{}", key="k", key_window=window))
    assert (created, again) == (True, False)
    assert first == second
    with pytest.raises(KeyConflict):
        store.insert_alone(NewJob("print", "{}", key="k"))
    assert listed(store) == [first]


def test_a_key_that_was_active_is_free_again_after_the_end(store):
    ended(store, DONE, key="k", key_window="active")
    (_, created), _ = store.insert_alone(NewJob("mail", "{}", key="k"))
    assert created


def test_it_waits_for_whoever_has_the_lock(store, other):
    other.begin()
    letting_go = threading.Timer(0.2, other.roll_back)
    letting_go.start()
    (_, created), _ = store.insert_alone(NewJob("mail", "{}"))
    letting_go.join()
    assert created


def test_ids_rise(store):
    ids = [store.insert_alone(NewJob("mail", "{}"))[0][0] for _ in range(20)]
    assert ids == sorted(ids)
    assert [run.id for run in claim(store, limit=20)] == ids


def test_a_job_that_the_store_refuses_is_told(store):
    job = NewJob("mail", "{}")
    job.priority = 99
    with pytest.raises(StoreError):
        store.insert_alone(job)
    assert listed(store) == []
