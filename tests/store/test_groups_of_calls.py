from __future__ import annotations

import pytest

from holdfast.model.errors import KeyConflict, StoreError
from holdfast.model.request import NewJob
from tests.store.given import MAIL, claim, enqueue, get, insert, listed, running, write


def put(kind="mail", payload="{}", **options):
    return lambda tx: tx.insert([NewJob(kind, payload, **options)])[0]


def fail(tx):
    raise ZeroDivisionError("the caller's own mistake")


def test_every_call_of_a_group_is_answered_in_its_order(store):
    answers, _ = store.write([put("a"), put("b"), lambda tx: tx.pause("gpu", "ann")])
    assert [get(store, answer[0]).type for answer in answers[:2]] == ["a", "b"]
    assert answers[2] is True


def test_no_calls_have_no_answers(store):
    answers, news = store.write([])
    assert answers == []
    assert not news


def test_a_call_that_raises_takes_nothing_else_with_it(store):
    enqueue(store, payload="[1]", key="k")
    answers, news = store.write([put("a", queue="x"), put(payload="[2]", key="k"), put("b", queue="y")])
    assert isinstance(answers[1], KeyConflict)
    assert [get(store, answers[n][0]).type for n in (0, 2)] == ["a", "b"]
    assert len(listed(store)) == 3
    assert news.queues == {"x", "y"}


def test_a_lone_call_that_raises_is_answered_with_its_error(store):
    answers, news = store.write([fail])
    assert isinstance(answers[0], ZeroDivisionError)
    assert not news


def test_what_a_call_wrote_before_it_raised_is_undone(store):
    def half(tx):
        tx.insert([NewJob("mail", "{}")])
        fail(tx)

    answers, _ = store.write([half, put("b"), half])
    assert [type(answer) for answer in answers] == [ZeroDivisionError, tuple, ZeroDivisionError]
    assert len(listed(store)) == 1
    assert isinstance(store.write([half])[0][0], ZeroDivisionError)
    assert len(listed(store)) == 1


def test_every_call_may_raise(store):
    answers, news = store.write([fail, fail])
    assert [type(answer) for answer in answers] == [ZeroDivisionError] * 2
    assert not news
    assert enqueue(store)


def test_a_statement_that_the_database_refuses_is_told_in_our_words(store):
    run = running(store)
    answers, _ = store.write([lambda tx: tx.progress(run.id, run.token, None), lambda tx: tx.execute("nonsense")])
    assert answers[0] is True
    assert isinstance(answers[1], StoreError)
    assert answers[1].code == "STORE_REFUSED"
    assert answers[1].__cause__ is not None


def test_a_bulk_insert_stores_all_or_none(store):
    enqueue(store, payload="[1]", key="k")
    with pytest.raises(KeyConflict):
        insert(store, NewJob("a", "{}"), NewJob("mail", "[2]", key="k"), NewJob("b", "{}"))
    assert len(listed(store)) == 1


def test_a_bulk_insert_stores_all_or_none_even_if_the_caller_goes_on(store):
    enqueue(store, payload="[1]", key="k")

    def stubborn(tx):
        with pytest.raises(KeyConflict):
            tx.insert([NewJob("a", "{}"), NewJob("mail", "[2]", key="k")])
        return tx.insert([NewJob("c", "{}")])

    write(store, stubborn)
    assert sorted(get(store, job_id).type for job_id in listed(store)) == ["c", "mail"]


def test_a_group_sees_what_its_earlier_calls_wrote(store):
    answers, _ = store.write([put(), lambda tx: len(tx.list_jobs({}, "~", 10)[0])])
    assert answers[1] == 1


def test_an_interrupt_in_a_call_leaves_the_store_usable(store, other):
    def stop(tx):
        tx.insert([NewJob("mail", "{}")])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.write([stop])
    with pytest.raises(KeyboardInterrupt):
        store.write([stop, stop])
    assert enqueue(store)
    assert len(listed(other)) == 1


def test_an_error_while_reading_is_the_readers_own(store):
    with pytest.raises(ZeroDivisionError):
        store.read(fail)
    with pytest.raises(StoreError) as caught:
        store.read(lambda tx: tx.execute("nonsense"))
    assert caught.value.code == "STORE_REFUSED"
    assert claim(store, MAIL) == []
