"""Newest wins: of the jobs with one coalesce key at most one waits and one runs, and the last request is never missed."""

from __future__ import annotations

import threading

import pytest

from holdfast.model import stamp
from holdfast.model.decide import decide
from holdfast.model.lease import Lane
from holdfast.model.outcome import Snoozed, Stopped, Unstarted
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.status import Status
from holdfast.store.port import Ending, Order
from tests.store.given import (
    CRASHED,
    DAY,
    DONE,
    FAILED,
    HOUR,
    LEASE,
    MINUTE,
    NOON,
    RAISED,
    SECOND,
    cancel,
    claim,
    claim_one,
    enqueue,
    finish,
    get,
    listed,
    recover,
    status,
    write,
)  # fmt: skip
from tests.store.requests import ask, due_at, history

AGAIN = {"raised": RAISED, "snoozed": Snoozed(5), "stopped": Stopped(), "unstarted": Unstarted(), "crashed": CRASHED}


def test_a_newer_request_takes_the_place_of_one_that_waits(store, clock):
    first, outcome = ask(store, '{"v":1}', priority=7, group="g", context='{"user_id":"a"}')
    assert outcome == "created"
    before = get(store, first)
    clock.forward(MINUTE)
    again, outcome = ask(store, '{"v":2}', priority=3, group="h", context='{"user_id":"b"}', payload_version=2)
    assert (again, outcome) == (first, "replaced")
    after = get(store, first)
    assert after.payload == {"v": 2}
    assert after.context["user_id"] == "b"
    assert after.payload_version == 2
    assert (after.created_at, after.scheduled_at, after.group) == (before.created_at, before.scheduled_at, "g")
    assert after.priority == 3
    assert after.version > before.version
    assert len(listed(store)) == 1


def test_a_worse_priority_and_a_later_time_do_not_hold_it_back(store):
    first, _ = ask(store, priority=2)
    ask(store, priority=9, delay=60)
    assert get(store, first).priority == 2
    assert due_at(store, first) == NOON


def test_an_earlier_time_brings_it_forward(store):
    first, _ = ask(store, delay=60)
    ask(store, delay=5)
    assert due_at(store, first) == NOON + 5 * SECOND


def test_what_failed_before_starts_anew_with_the_newer_request(store):
    first, _ = ask(store, '{"v":1}')
    finish(store, claim_one(store), RAISED)
    assert get(store, first).failed == 1
    ask(store, '{"v":2}')
    job = get(store, first)
    assert (job.attempts, job.failed, job.error, job.payload) == (0, 0, None, {"v": 2})


def test_history_tells_how_many_requests_became_a_run(store):
    first, _ = ask(store)
    for _ in range(16):
        ask(store)
    assert [line["why"] for line in history(store, first)] == ["17 requests became this run"]


def test_other_keys_types_and_tenants_are_others(store):
    ids = {ask(store)[0], ask(store, key="other")[0], ask(store, kind="print")[0], ask(store, tenant="t")[0]}
    assert len(ids) == 4
    assert enqueue(store) not in ids


def test_while_one_runs_the_next_waits_behind_it(store):
    first, _ = ask(store, '{"v":1}')
    run = claim_one(store)
    second, outcome = ask(store, '{"v":2}')
    assert (second != first, outcome) == (True, "created")
    assert ask(store, '{"v":3}') == (second, "replaced")
    assert claim(store) == []
    assert finish(store, run, DONE)
    assert status(store, first) is Status.COMPLETED
    (follower,) = claim(store)
    assert (follower.id, follower.payload) == (second, '{"v":3}')


def test_the_one_behind_is_told_of_when_it_may_begin(store):
    ask(store)
    run = claim_one(store)
    second, _ = ask(store)

    def end(tx):
        jobs_ended = tx.finish([_ending(run, DONE)])
        assert jobs_ended == [True]

    _, news = store.write([end])
    assert "default" in news.queues
    assert second in news.jobs


@pytest.mark.parametrize("outcome", AGAIN.values(), ids=AGAIN)
def test_a_run_that_would_go_round_again_gives_way_to_the_one_behind(store, outcome):
    first, _ = ask(store)
    run = claim_one(store)
    second, _ = ask(store)
    assert finish(store, run, outcome)
    ended = get(store, first)
    assert (ended.status, ended.error["code"], ended.error["successor"]) == (Status.CANCELLED, "SUPERSEDED", second)
    assert history(store, first)[-1]["why"] == "superseded"
    assert [one.id for one in claim(store)] == [second]


@pytest.mark.parametrize("outcome", AGAIN.values(), ids=AGAIN)
def test_without_one_behind_it_goes_round_again(store, clock, outcome):
    first, _ = ask(store)
    finish(store, claim_one(store), outcome)
    assert status(store, first) is Status.QUEUED
    clock.forward(HOUR)
    alone = write(store, lambda tx: tx.claim_alone(_order())) if outcome is CRASHED else []
    assert [one.id for one in claim(store) + alone] == [first]


def test_a_permanent_failure_stands_and_frees_the_one_behind(store):
    first, _ = ask(store)
    run = claim_one(store)
    second, _ = ask(store)
    finish(store, run, FAILED)
    assert status(store, first) is Status.FAILED
    assert [one.id for one in claim(store)] == [second]


def test_an_expired_run_frees_the_one_behind(store, clock):
    first, _ = ask(store)
    claim_one(store)
    second, _ = ask(store)
    clock.forward(LEASE + 1)
    assert recover(store) == [True]
    assert status(store, first) is Status.CANCELLED
    assert [one.id for one in claim(store)] == [second]


def test_a_cancelled_run_frees_the_one_behind(store):
    first, _ = ask(store)
    claim_one(store)
    second, _ = ask(store)
    assert cancel(store, first) == "in_progress"
    assert [one.id for one in claim(store)] == [second]


def test_a_gracefully_cancelled_run_frees_the_one_behind_when_it_ends(store):
    first, _ = ask(store)
    run = claim_one(store)
    second, _ = ask(store)
    assert cancel(store, first, graceful=True) == "in_progress"
    assert claim(store) == []
    finish(store, run, DONE)
    assert [one.id for one in claim(store)] == [second]


def test_a_lost_lease_frees_nothing(store, clock):
    ask(store)
    run = claim_one(store)
    clock.forward(LEASE + 1)
    recover(store)
    ask(store)  # replaces the one that waits for its second run
    again = claim(store) or write(store, lambda tx: tx.claim_alone(_order()))
    assert len(again) == 1
    third, _ = ask(store)
    assert not finish(store, run, DONE)
    assert claim(store) == []
    assert finish(store, again[0], DONE)
    assert [one.id for one in claim(store)] == [third]


def test_a_cancelled_one_behind_makes_room_for_another(store):
    ask(store)
    run = claim_one(store)
    second, _ = ask(store)
    cancel(store, second)
    third, outcome = ask(store)
    assert (third != second, outcome) == (True, "created")
    assert claim(store) == []
    finish(store, run, DONE)
    assert [one.id for one in claim(store)] == [third]


def test_one_that_is_claimed_under_the_hands_of_a_newer_request_is_followed_by_it(store, other):
    first, _ = ask(store, '{"v":1}')
    (run,) = other.begin().claim(Order("first", [Lane("default", "mail")], 1, LEASE))
    committing = threading.Timer(0.3, other.commit)
    committing.start()
    second, outcome = ask(store, '{"v":2}')
    committing.join()
    assert (run.id, second != first, outcome) == (first, True, "created")
    assert claim(store) == []
    assert finish(store, run, DONE)
    assert [one.payload for one in claim(store)] == ['{"v":2}']


# -- numbers: the latest wins


def test_an_older_number_is_discarded_and_counted(store):
    first, _ = ask(store, '{"v":5}', sequence=5)
    assert ask(store, '{"v":4}', sequence=4) == (first, "discarded")
    assert ask(store, '{"v":5}', sequence=5) == (first, "discarded")
    assert get(store, first).payload == {"v": 5}
    assert write(store, lambda tx: tx.run("sequence", tenant="", type="mail", coalesce_key="doc")) == [(5, first, None)]


def test_a_number_is_known_after_its_job_is_gone(store, clock):
    first, _ = ask(store, sequence=5)
    finish(store, claim_one(store), DONE)
    clock.forward(8 * DAY)
    write(store, lambda tx: tx.sweep_ended({"completed": 7 * DAY}, "", 100))
    assert listed(store) == []
    assert ask(store, sequence=5) == (first, "discarded")
    assert ask(store, sequence=6)[1] == "created"


def test_a_number_is_forgotten_thirty_days_after_its_last_use(store, clock):
    ask(store, sequence=5)
    finish(store, claim_one(store), DONE)
    clock.forward(29 * DAY)
    write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=DAY, audit_ms=DAY))
    assert ask(store, sequence=3)[1] == "discarded"
    clock.forward(31 * DAY)
    write(store, lambda tx: tx.forget(workers_ms=DAY, figures_ms=DAY, audit_ms=DAY))
    assert ask(store, sequence=3)[1] == "created"


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_the_same_number_is_taken_again_if_its_job_ended_badly(store, end):
    first, _ = ask(store, sequence=5)
    if end == "failed":
        finish(store, claim_one(store), FAILED)
    else:
        cancel(store, first)
    second, outcome = ask(store, sequence=5)
    assert (second != first, outcome) == (True, "created")


@pytest.mark.parametrize("by", ["retention", "a person"])
def test_and_still_so_when_that_job_is_gone(store, clock, by):
    first, _ = ask(store, sequence=5)
    finish(store, claim_one(store), FAILED)
    clock.forward(31 * DAY)
    if by == "retention":
        write(store, lambda tx: tx.sweep_ended({"failed": 30 * DAY}, "", 100))
    else:
        assert write(store, lambda tx: tx.purge(first, "failed"))
    assert listed(store) == []
    second, outcome = ask(store, sequence=5)
    assert outcome == "created"
    assert ask(store, sequence=5) == (second, "discarded")


def test_the_same_number_is_let_in_by_force(store):
    first, _ = ask(store, '{"v":1}', sequence=5)
    assert ask(store, '{"v":2}', sequence=5, force=True) == (first, "replaced")
    finish(store, claim_one(store), DONE)
    assert ask(store, sequence=4, force=True) == (first, "discarded")
    second, outcome = ask(store, sequence=5, force=True)
    assert (second != first, outcome) == (True, "created")


def test_an_overtaken_run_has_its_ending_refused(store):
    first, _ = ask(store, '{"v":1}', sequence=1)
    run = claim_one(store)
    second, _ = ask(store, '{"v":2}', sequence=2)
    assert finish(store, run, DONE)
    ended = get(store, first)
    assert (ended.status, ended.result, ended.error["code"]) == (Status.CANCELLED, None, "SUPERSEDED")
    assert [one.id for one in claim(store)] == [second]


def test_an_older_request_beside_a_newer_run_overtakes_nothing(store):
    first, _ = ask(store, sequence=5)
    run = claim_one(store)
    assert ask(store, sequence=4) == (first, "discarded")
    assert finish(store, run, DONE)
    assert status(store, first) is Status.COMPLETED


# -- waiting for the requests to stop


def test_a_debounced_job_is_due_after_the_last_request(store, clock):
    first, _ = ask(store, debounce=10)
    clock.forward(6 * SECOND)
    ask(store, debounce=10)
    assert due_at(store, first) == NOON + 16 * SECOND
    clock.forward(9 * SECOND)
    assert claim(store) == []


def test_but_it_waits_no_longer_than_it_may(store, clock):
    first, _ = ask(store, debounce=10, max_wait=15)
    clock.forward(9 * SECOND)
    ask(store, debounce=10, max_wait=15)
    assert due_at(store, first) == NOON + 15 * SECOND
    clock.forward(3 * SECOND)
    ask(store, debounce=10, max_wait=15)
    assert due_at(store, first) == NOON + 15 * SECOND
    assert (
        due_at(store, ask(store, key="short", debounce=10, max_wait=2)[0])
        == stamp.from_datetime(get(store, first).created_at) + 14 * SECOND
    )


def _ending(run, outcome):
    return Ending(run, decide(run, outcome, DEFAULT_POLICY, spread=0.0))


def _order():
    return Order("solo", [Lane("default", "mail")], 10, LEASE)
