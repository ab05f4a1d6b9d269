from __future__ import annotations

import threading

import pytest

from holdfast.model import stamp
from holdfast.model.lease import Lane
from holdfast.model.outcome import Snoozed, Stopped, Unstarted
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Order
from tests.store.given import (
    DAY,
    DONE,
    HOUR,
    LEASE,
    MAIL,
    MINUTE,
    NOON,
    RAISED,
    SECOND,
    cancel,
    claim,
    claim_one,
    ended,
    enqueue,
    finish,
    get,
    insert,
    news_of,
    running,
    write,
)  # fmt: skip


def test_a_claim_takes_a_due_job_under_lease(store, clock):
    job_id = enqueue(store)
    clock.forward(SECOND)
    (run,) = claim(store, owner="host:1", lease_ms=LEASE)
    job = get(store, job_id)
    assert (run.id, run.token, run.attempts, run.lease_owner) == (job_id, 1, 1, "host:1")
    assert job.status is Status.IN_PROGRESS
    assert (job.lease_owner, job.lease_token, job.attempts, job.version) == ("host:1", 1, 1, 2)
    assert job.lease_until == stamp.to_datetime(NOON + SECOND + LEASE)
    assert job.started_at == job.updated_at == stamp.to_datetime(NOON + SECOND)


def test_a_claim_carries_everything_a_worker_needs(store):
    job_id = enqueue(
        store, payload="[1]", queue="gpu", priority=2, tenant="t", group="g", max_attempts=4, timeout=2,
        context='{"user_id":"u"}', payload_version=3, key="k", key_window="active",
    )  # fmt: skip
    run = claim_one(store, Lane("gpu", "mail", 3))
    assert (run.id, run.type, run.queue, run.payload, run.payload_version) == (job_id, "mail", "gpu", "[1]", 3)
    assert (run.max_attempts, run.priority, run.tenant, run.group, run.timeout_ms) == (4, 2, "t", "g", 2000)
    assert (run.failed, run.crashed, run.interrupted) == (0, 0, 0)
    assert (run.context, run.key_until) == ('{"user_id":"u"}', "active")
    assert run.created_at == run.scheduled_at == run.started_at == stamp.to_text(NOON)
    assert run.lease_until == stamp.to_text(NOON + LEASE)


def test_a_job_is_claimed_once(store, other):
    enqueue(store)
    assert len(claim(store, owner="first")) == 1
    assert claim(other, owner="second") == []


def test_an_expired_lease_is_not_taken_by_a_claim(store, clock):
    running(store)
    clock.forward(LEASE + DAY)
    assert claim(store, owner="second") == []


def test_nothing_is_due_in_an_empty_store(store):
    assert claim(store) == []


def test_jobs_come_by_priority_then_time_due_then_id(store, clock):
    late = enqueue(store, priority=5, delay=2)
    early = enqueue(store, priority=5, delay=1)
    first = enqueue(store, priority=1, delay=3)
    last = enqueue(store, priority=10)
    same = enqueue(store, priority=5, delay=1)
    clock.forward(MINUTE)
    assert [run.id for run in claim(store)] == [first, early, same, late, last]


def test_a_claim_takes_the_best_when_it_takes_few(store, clock):
    enqueue(store, priority=6)
    good = enqueue(store, priority=5, delay=2)
    better = enqueue(store, priority=5, delay=1)
    clock.forward(MINUTE)
    assert [run.id for run in claim(store, limit=2)] == [better, good]


def test_a_claim_of_one_takes_the_one_that_is_due_first(store, clock):
    enqueue(store, delay=3)
    first = enqueue(store, delay=1)
    enqueue(store, delay=2)
    clock.forward(MINUTE)
    assert claim_one(store).id == first


def test_lanes_of_one_priority_share_one_order(store, clock):
    lanes = (Lane("default", "a"), Lane("default", "b"))
    third = enqueue(store, "a", delay=3)
    first = enqueue(store, "b", delay=1)
    second = enqueue(store, "a", delay=2)
    clock.forward(MINUTE)
    assert [run.id for run in claim(store, *lanes, limit=2)] == [first, second]
    assert [run.id for run in claim(store, *lanes)] == [third]


def test_a_better_priority_in_any_lane_comes_first(store):
    lanes = (Lane("default", "a"), Lane("slow", "b"))
    second = enqueue(store, "a", priority=3)
    first = enqueue(store, "b", priority=2, queue="slow")
    assert [run.id for run in claim(store, *lanes)] == [first, second]


@pytest.mark.parametrize(("ms", "taken"), [(-1, 0), (0, 1), (1, 1)])
def test_a_job_is_due_from_its_instant_on(store, clock, ms, taken):
    enqueue(store, delay=60)
    clock.forward(MINUTE + ms)
    assert len(claim(store)) == taken


def test_a_claim_takes_no_more_than_its_limit(store):
    insert(store, *(NewJob("mail", "{}") for _ in range(5)))
    assert len(claim(store, limit=3)) == 3
    assert len(claim(store, limit=3)) == 2


def test_a_limit_of_none_takes_nothing(store):
    enqueue(store)
    assert claim(store, limit=0) == []


def test_only_the_lanes_of_the_order_are_taken(store):
    mine = enqueue(store, "mail")
    enqueue(store, "print")
    enqueue(store, "mail", queue="slow")
    enqueue(store, "mail", payload_version=2)
    assert [run.id for run in claim(store, MAIL)] == [mine]


def test_no_lanes_take_nothing(store):
    enqueue(store)
    assert write(store, lambda tx: tx.claim(_order([]))) == []


def test_a_lane_that_is_named_twice_counts_once(store):
    ids = [answer.id for answer in insert(store, NewJob("mail", "{}"), NewJob("mail", "{}"))]
    assert [run.id for run in claim(store, MAIL, MAIL, limit=2)] == ids


def test_a_claim_carries_the_counters_of_earlier_runs(store, clock):
    finish(store, running(store), RAISED)
    clock.forward(HOUR)
    run = claim_one(store)
    assert (run.attempts, run.failed, run.token) == (2, 1, 2)


@pytest.mark.parametrize(("outcome", "attempts"), [(RAISED, 2), (Snoozed(SECOND), 1), (Stopped(), 1), (Unstarted(), 1)])
def test_every_claim_is_a_new_token_whatever_became_of_the_attempt(store, clock, outcome, attempts):
    finish(store, running(store), outcome)
    clock.forward(HOUR)
    run = claim_one(store)
    assert (run.token, run.attempts) == (2, attempts)


def test_a_job_that_ended_is_not_claimed(store):
    ended(store, DONE)
    cancel(store, enqueue(store))
    assert claim(store) == []


def test_two_claims_at_once_never_share_a_job(open_store, clock):
    stores = [open_store(clock) for _ in range(3)]
    insert(stores[0], *(NewJob("mail", "{}") for _ in range(60)))
    taken = []

    def take(own):
        while runs := claim(own, owner=str(id(own)), limit=4):
            taken.extend(run.id for run in runs)

    threads = [threading.Thread(target=take, args=(own,)) for own in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 60


def test_the_next_due_time_lies_past_now(store, clock):
    enqueue(store)
    assert store.read(lambda tx: tx.next_due([MAIL])) is None
    enqueue(store, priority=9, delay=120)
    enqueue(store, priority=1, delay=180)
    assert store.read(lambda tx: tx.next_due([MAIL])) == NOON + 2 * MINUTE
    clock.forward(2 * MINUTE)
    assert store.read(lambda tx: tx.next_due([MAIL])) == NOON + 3 * MINUTE


def test_what_is_due_already_counts_where_it_is_asked_for(store, clock):
    assert store.read(lambda tx: tx.next_due([MAIL], due_too=True)) is None
    enqueue(store, delay=60)
    assert store.read(lambda tx: tx.next_due([MAIL], due_too=True)) == NOON + MINUTE
    enqueue(store, priority=9)
    clock.forward(HOUR)
    assert store.read(lambda tx: tx.next_due([MAIL], due_too=True)) == NOON
    write(store, lambda tx: tx.pause("default", "ann"))
    assert store.read(lambda tx: tx.next_due([MAIL], due_too=True)) is None


def test_the_next_due_time_looks_at_its_lanes_only(store):
    enqueue(store, "print", delay=60)
    assert store.read(lambda tx: tx.next_due([MAIL])) is None
    assert store.read(lambda tx: tx.next_due([MAIL, Lane("default", "print")])) == NOON + MINUTE


def test_a_claim_tells_no_one(store):
    enqueue(store)
    assert not news_of(store, lambda tx: tx.claim(_order([MAIL])))


def _order(lanes):
    return Order("first", lanes, 10, LEASE)
