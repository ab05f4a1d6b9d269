"""Newest wins: many requests at once, acts of a person, full queues, and what is refused."""

from __future__ import annotations

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import BadInput, Conflict, QueueFull
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from tests.store.given import (
    DONE,
    FAILED,
    MINUTE,
    NOON,
    RAISED,
    claim,
    claim_one,
    dead,
    finish,
    get,
    listed,
    status,
    write,
)
from tests.store.requests import ask, due_at, history


def test_in_a_bulk_call_requests_with_one_key_meet_as_in_a_loop(store):
    requests = [
        NewJob("mail", '{"n":1}', coalesce_key="a", priority=2),
        NewJob("mail", '{"n":2}'),
        NewJob("mail", '{"n":3}', coalesce_key="a", priority=8),
        NewJob("mail", '{"n":4}', coalesce_key="b", sequence=9),
        NewJob("mail", '{"n":5}', coalesce_key="b", sequence=7),
    ]
    answers = write(store, lambda tx: jobs.enqueue(tx, requests))
    assert [outcome for _, outcome in answers] == ["created", "created", "replaced", "created", "discarded"]
    assert answers[0][0] == answers[2][0]
    assert answers[3][0] == answers[4][0]
    assert (get(store, answers[0][0]).payload, get(store, answers[0][0]).priority) == ({"n": 3}, 2)
    assert get(store, answers[3][0]).payload == {"n": 4}
    assert history(store, answers[0][0])[0]["why"] == "2 requests became this run"
    assert len(listed(store)) == 3


def test_a_person_cannot_retry_what_was_overtaken(store):
    first, _ = ask(store)
    finish(store, claim_one(store), FAILED)
    second, _ = ask(store)
    with pytest.raises(Conflict, match=second) as refused:
        write(store, lambda tx: jobs.retry(tx, first))
    assert refused.value.code == "SUPERSEDED"
    run = claim_one(store)
    with pytest.raises(Conflict, match=second):
        write(store, lambda tx: jobs.retry(tx, first))
    finish(store, run, DONE)
    assert write(store, lambda tx: jobs.retry(tx, first)).status is Status.QUEUED


def test_many_dead_letters_are_retried_though_one_was_overtaken(store):
    plain = dead(store)
    overtaken, newest = (ask(store, max_attempts=1)[0] for _ in range(2) if not _die(store))
    _die(store)
    assert write(store, jobs.retry_dead) == 2
    assert [status(store, one) for one in (plain, newest)] == [Status.QUEUED] * 2
    assert status(store, overtaken) is Status.DEAD_LETTER


def _die(store):
    for run in claim(store):
        finish(store, run, RAISED)


def test_a_full_queue_lets_a_newer_request_in_for_one_that_waits(store):
    def ask_within(depth, **options):
        job = NewJob("mail", '{"v":2}', **options)
        return write(store, lambda tx: jobs.enqueue(tx, [job], {"default": depth}))[0][1]

    ask(store)
    assert ask_within(1, coalesce_key="doc") == "replaced"
    with pytest.raises(QueueFull):
        ask_within(1, coalesce_key="other")


def test_a_shorter_debounce_brings_nothing_forward(store):
    first, _ = ask(store, debounce=60)
    ask(store, debounce=1)
    assert due_at(store, first) == NOON + MINUTE


def test_a_person_cannot_retry_an_older_number(store):
    first, _ = ask(store, sequence=1)
    finish(store, claim_one(store), FAILED)
    ask(store, sequence=2)
    finish(store, claim_one(store), DONE)
    with pytest.raises(Conflict):
        write(store, lambda tx: jobs.retry(tx, first))


@pytest.mark.parametrize(
    "options",
    [
        {"sequence": 1},
        {"debounce": 1},
        {"max_wait": 1},
        {"coalesce_key": "k", "key": "k"},
        {"coalesce_key": ""},
        {"coalesce_key": "k", "sequence": -1},
        {"coalesce_key": "k", "sequence": 2**63},
        {"coalesce_key": "k", "sequence": True},
        {"coalesce_key": "k", "sequence": "1"},
        {"coalesce_key": "k", "max_wait": 5},
        {"coalesce_key": "k", "debounce": -1},
        {"coalesce_key": "k", "debounce": 1, "delay": 1},
        {"coalesce_key": "k", "debounce": 1, "scheduled_at": "2030-01-01T00:00:00Z"},
    ],
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(BadInput):
        NewJob("mail", "{}", **options)
