from __future__ import annotations

import pytest

from holdfast.model import stamp
from holdfast.model.status import Status
from tests.store.given import (
    CRASHED,
    DONE,
    HOUR,
    LEASE,
    MINUTE,
    NOON,
    SECOND,
    cancel,
    claim,
    claim_one,
    enqueue,
    finish,
    get,
    recover,
    running,
    write,
)  # fmt: skip


def expired(store, limit=100):
    return [run.id for run in store.read(lambda tx: tx.expired(limit))]


def test_a_run_in_its_lease_is_not_expired(store, clock):
    running(store)
    clock.forward(LEASE - 1)
    assert expired(store) == []


@pytest.mark.parametrize(("past", "count"), [(-1, 0), (0, 0), (1, 1)])
def test_a_lease_runs_out_after_its_last_millisecond(store, clock, past, count):
    running(store)
    clock.forward(LEASE + past)
    assert len(expired(store)) == count


def test_an_expired_run_is_told_as_its_worker_saw_it(store, clock):
    run = running(store, tenant="t", group="g", key="k", key_window="active")
    clock.forward(LEASE + 1)
    assert store.read(lambda tx: tx.expired(10)) == [run]


def test_expired_runs_come_oldest_first_up_to_a_limit(store, clock):
    late = _running_for(store, 2 * MINUTE)
    early = _running_for(store, MINUTE)
    last = _running_for(store, 3 * MINUTE)
    clock.forward(HOUR)
    assert expired(store) == [early, late, last]
    assert expired(store, limit=2) == [early, late]


def test_the_watchdog_sends_a_crashed_run_back_at_once_the_first_time(store, clock):
    run = running(store)
    clock.forward(LEASE + 1)
    assert recover(store) == [True]
    job = get(store, run.id)
    assert (job.status, job.attempts, job.crashed, job.failed) == (Status.QUEUED, 1, 1, 0)
    assert job.scheduled_at == stamp.to_datetime(NOON + LEASE + 1)
    assert job.lease_token == run.token + 1
    assert (job.lease_owner, job.error["code"]) == (None, "LEASE_EXPIRED")


def test_a_second_crash_waits_for_its_back_off(store, clock):
    run = running(store)
    clock.forward(LEASE + 1)
    recover(store)
    claim_one(store)
    clock.forward(LEASE + 1)
    recover(store)
    assert get(store, run.id).scheduled_at == stamp.to_datetime(clock.now + 4 * SECOND)


def test_a_job_that_kills_its_workers_ends_as_a_dead_letter(store, clock):
    run = running(store, max_attempts=10)
    for _ in range(3):
        clock.forward(LEASE + 1)
        recover(store)
        clock.forward(HOUR)
        claim(store)
    job = get(store, run.id)
    assert (job.status, job.crashed, job.attempts) == (Status.DEAD_LETTER, 3, 3)


def test_a_crash_on_the_last_attempt_makes_a_dead_letter(store, clock):
    run = running(store, max_attempts=1)
    clock.forward(LEASE + 1)
    recover(store)
    assert get(store, run.id).status is Status.DEAD_LETTER


def test_a_lease_that_was_renewed_in_between_is_not_ended(store, clock):
    run = running(store)
    clock.forward(LEASE + 1)
    (seen,) = store.read(lambda tx: tx.expired(10))
    write(store, lambda tx: tx.renew([(run.id, run.token)], LEASE))
    assert not finish(store, seen, CRASHED, expired=True)
    assert get(store, run.id).status is Status.IN_PROGRESS


def test_a_lease_is_not_ended_in_its_last_millisecond(store, clock):
    run = running(store)
    clock.forward(LEASE)
    assert not finish(store, run, CRASHED, expired=True)


def test_a_run_that_finished_in_between_is_not_ended_again(store, clock):
    run = running(store)
    clock.forward(LEASE + 1)
    (seen,) = store.read(lambda tx: tx.expired(10))
    finish(store, run, DONE)
    assert not finish(store, seen, CRASHED, expired=True)
    assert get(store, run.id).status is Status.COMPLETED


def test_a_run_that_was_claimed_anew_in_between_is_not_ended(store, clock):
    running(store)
    clock.forward(LEASE + 1)
    (seen,) = store.read(lambda tx: tx.expired(10))
    recover(store)
    new = claim_one(store, owner="second", lease_ms=SECOND)
    clock.forward(HOUR)
    assert not finish(store, seen, CRASHED, expired=True)
    assert get(store, new.id).lease_owner == "second"


def test_two_watchdogs_end_a_run_once(store, other, clock):
    run = running(store)
    clock.forward(LEASE + 1)
    seen = [own.read(lambda tx: tx.expired(10))[0] for own in (store, other)]
    ended = [finish(own, each, CRASHED, expired=True) for own, each in zip((store, other), seen, strict=True)]
    assert ended == [True, False]
    assert get(store, run.id).crashed == 1


def test_a_cancelled_run_is_not_expired(store, clock):
    run = running(store)
    cancel(store, run.id)
    clock.forward(LEASE + 1)
    assert expired(store) == []


def test_the_runs_of_one_owner_are_found(store):
    mine = claim_of(store, "host:1")
    claim_of(store, "host:2")
    assert store.read(lambda tx: tx.held_by("host:1")) == [mine]
    finish(store, mine, DONE)
    assert store.read(lambda tx: tx.held_by("host:1")) == []


def claim_of(store, owner):
    enqueue(store)
    return claim_one(store, owner=owner)


def _running_for(store, lease_ms):
    enqueue(store)
    return claim_one(store, lease_ms=lease_ms).id


def next_expiry(store):
    return store.read(lambda tx: tx.next_expiry())


def test_the_next_lease_to_end_is_known_beforehand(store, clock):
    assert next_expiry(store) is None
    _running_for(store, 2 * MINUTE)
    _running_for(store, MINUTE)
    assert next_expiry(store) == NOON + MINUTE
    clock.forward(MINUTE + 1)
    assert next_expiry(store) == NOON + 2 * MINUTE
    clock.forward(MINUTE)
    assert next_expiry(store) is None


def test_a_run_that_ended_has_no_lease_to_end(store):
    finish(store, running(store), DONE)
    assert next_expiry(store) is None
