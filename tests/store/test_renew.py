from __future__ import annotations

import pytest

from holdfast.model import stamp
from holdfast.model.outcome import Unstarted
from tests.store.given import (
    DAY,
    DONE,
    HOUR,
    LEASE,
    NOON,
    SECOND,
    cancel,
    claim_one,
    finish,
    get,
    news_of,
    recover,
    running,
    write,
)  # fmt: skip


def renew(store, *holds, lease_ms=LEASE):
    return write(store, lambda tx: tx.renew(holds, lease_ms))


def test_a_renewal_extends_the_lease_from_now(store, clock):
    run = running(store)
    clock.forward(20 * SECOND)
    assert renew(store, (run.id, run.token)) == [True]
    assert get(store, run.id).lease_until == stamp.to_datetime(NOON + 20 * SECOND + LEASE)


def test_a_renewal_is_no_visible_change(store, clock):
    run = running(store)
    before = get(store, run.id)
    clock.forward(SECOND)
    assert not news_of(store, lambda tx: tx.renew([(run.id, run.token)], LEASE))
    after = get(store, run.id)
    assert (after.version, after.updated_at, after.attempts) == (before.version, before.updated_at, 1)
    assert (after.lease_owner, after.lease_token) == (before.lease_owner, before.lease_token)


def test_an_expired_lease_that_nobody_took_is_still_held(store, clock):
    run = running(store)
    clock.forward(LEASE + DAY)
    assert renew(store, (run.id, run.token)) == [True]
    assert recover(store) == []


@pytest.mark.parametrize("wrong", [-1, 1, 100])
def test_a_renewal_with_another_token_is_refused(store, clock, wrong):
    run = running(store)
    clock.forward(SECOND)
    assert renew(store, (run.id, run.token + wrong)) == [False]
    assert get(store, run.id).lease_until == stamp.to_datetime(NOON + LEASE)


def test_a_worker_that_lost_its_lease_cannot_renew(store, clock):
    old = running(store)
    clock.forward(LEASE + 1)
    recover(store)
    new = claim_one(store, owner="second")
    assert renew(store, (old.id, old.token), (new.id, new.token)) == [False, True]
    assert get(store, old.id).lease_owner == "second"


def test_a_run_that_ended_cannot_be_renewed(store):
    run = running(store)
    finish(store, run, DONE)
    assert renew(store, (run.id, run.token)) == [False]


def test_a_run_that_was_handed_back_cannot_be_renewed(store):
    run = running(store)
    finish(store, run, Unstarted())
    assert renew(store, (run.id, run.token)) == [False]


def test_a_cancelled_run_cannot_be_renewed(store):
    run = running(store)
    cancel(store, run.id)
    assert renew(store, (run.id, run.token)) == [False]


def test_a_run_that_was_asked_to_stop_can_be_renewed(store):
    run = running(store)
    cancel(store, run.id, graceful=True)
    assert renew(store, (run.id, run.token)) == [True]


def test_a_job_that_does_not_exist_cannot_be_renewed(store):
    assert renew(store, ("0" * 26, 1)) == [False]


def test_many_leases_are_renewed_in_one_call(store):
    runs = [running(store) for _ in range(5)]
    holds = [(run.id, run.token) for run in runs]
    assert renew(store, *holds, lease_ms=HOUR) == [True] * 5
    assert {get(store, run.id).lease_until for run in runs} == {stamp.to_datetime(NOON + HOUR)}


def test_progress_is_visible_while_the_run_holds_its_lease(store):
    run = running(store)
    news = news_of(store, lambda tx: tx.progress(run.id, run.token, '{"done":1}'))
    job = get(store, run.id)
    assert news.jobs == [run.id]
    assert (job.progress, job.version) == ({"done": 1}, 3)


@pytest.mark.parametrize("wrong", [-1, 1])
def test_progress_with_another_token_is_refused(store, wrong):
    run = running(store)
    before = get(store, run.id)
    assert not write(store, lambda tx: tx.progress(run.id, run.token + wrong, '{"done":1}'))
    assert get(store, run.id) == before


def test_a_worker_that_lost_its_lease_cannot_show_progress(store):
    run = running(store)
    cancel(store, run.id)
    version = get(store, run.id).version
    assert not write(store, lambda tx: tx.progress(run.id, run.token, '{"done":1}'))
    assert (get(store, run.id).progress, get(store, run.id).version) == (None, version)
    assert not news_of(store, lambda tx: tx.progress(run.id, run.token + 1, '{"done":1}'))
