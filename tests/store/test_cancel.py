from __future__ import annotations

import pytest

from holdfast.model import stamp
from holdfast.model.outcome import Abandoned, Snoozed, Stopped, Unstarted
from holdfast.model.status import Status
from tests.store.given import (
    CRASHED,
    DONE,
    FAILED,
    LEASE,
    NOON,
    RAISED,
    SECOND,
    cancel,
    claim,
    dead,
    ended,
    enqueue,
    finish,
    get,
    news_of,
    recover,
    running,
)  # fmt: skip


@pytest.mark.parametrize("graceful", [False, True])
def test_a_waiting_job_is_cancelled_at_once(store, clock, graceful):
    job_id = enqueue(store)
    clock.forward(SECOND)
    assert cancel(store, job_id, graceful=graceful) == "queued"
    job = get(store, job_id)
    assert (job.status, job.error["code"], job.version) == (Status.CANCELLED, "CANCELLED", 2)
    assert job.completed_at == job.updated_at == stamp.to_datetime(NOON + SECOND)


def test_a_cancelled_job_is_never_claimed(store, clock):
    cancel(store, enqueue(store))
    assert claim(store) == []


def test_an_immediate_cancel_ends_a_run_now(store, clock):
    run = running(store)
    clock.forward(SECOND)
    assert cancel(store, run.id) == "in_progress"
    job = get(store, run.id)
    assert (job.status, job.lease_owner, job.lease_until) == (Status.CANCELLED, None, None)
    assert job.lease_token == run.token + 1
    assert job.completed_at == job.cancel_requested_at == stamp.to_datetime(NOON + SECOND)
    assert job.error["code"] == "CANCELLED"


@pytest.mark.parametrize("outcome", [DONE, RAISED, FAILED, CRASHED, Stopped(), Abandoned()])
def test_whatever_a_run_sends_after_an_immediate_cancel_is_refused(store, outcome):
    run = running(store)
    cancel(store, run.id)
    before = get(store, run.id)
    assert not finish(store, run, outcome)
    assert get(store, run.id) == before


def test_a_graceful_cancel_asks_a_run_to_stop(store, clock):
    run = running(store)
    clock.forward(SECOND)
    assert cancel(store, run.id, graceful=True) == "in_progress"
    job = get(store, run.id)
    assert (job.status, job.lease_token, job.lease_owner) == (Status.IN_PROGRESS, run.token, "first")
    assert job.cancel_requested_at == stamp.to_datetime(NOON + SECOND)
    assert job.version == 3


def test_a_run_that_was_asked_to_stop_may_still_complete(store):
    run = running(store)
    cancel(store, run.id, graceful=True)
    assert finish(store, run, DONE)
    job = get(store, run.id)
    assert (job.status, job.result, job.error) == (Status.COMPLETED, {"sent": True}, None)


@pytest.mark.parametrize("outcome", [RAISED, FAILED, CRASHED, Snoozed(SECOND), Stopped(), Unstarted(), Abandoned()])
def test_any_other_ending_after_a_graceful_cancel_is_cancelled(store, clock, outcome):
    run = running(store)
    cancel(store, run.id, graceful=True)
    clock.forward(SECOND)
    assert finish(store, run, outcome)
    job = get(store, run.id)
    assert job.status is Status.CANCELLED
    assert (job.lease_owner, job.completed_at) == (None, stamp.to_datetime(NOON + SECOND))
    last = store.read(lambda tx: tx.history(run.id))[-1]
    assert (last["to_status"], last["why"]) == ("cancelled", "cancelled")
    assert claim(store) == []


def test_a_run_that_was_asked_to_stop_and_crashed_is_cancelled_by_the_watchdog(store, clock):
    run = running(store)
    cancel(store, run.id, graceful=True)
    clock.forward(LEASE + 1)
    assert recover(store) == [True]
    assert (get(store, run.id).status, get(store, run.id).crashed) == (Status.CANCELLED, 1)


def test_an_immediate_cancel_may_follow_a_graceful_one(store, clock):
    run = running(store)
    cancel(store, run.id, graceful=True)
    clock.forward(SECOND)
    assert cancel(store, run.id) == "in_progress"
    job = get(store, run.id)
    assert job.status is Status.CANCELLED
    assert job.cancel_requested_at == stamp.to_datetime(NOON)


def test_a_second_graceful_cancel_has_nothing_to_do(store):
    run = running(store)
    cancel(store, run.id, graceful=True)
    version = get(store, run.id).version
    assert cancel(store, run.id, graceful=True) is None
    assert get(store, run.id).version == version


@pytest.mark.parametrize("graceful", [False, True])
@pytest.mark.parametrize("outcome", [DONE, FAILED, Abandoned()])
def test_a_job_that_ended_cannot_be_cancelled(store, graceful, outcome):
    job_id = ended(store, outcome)
    before = get(store, job_id)
    assert cancel(store, job_id, graceful=graceful) is None
    assert get(store, job_id) == before


def test_a_dead_letter_cannot_be_cancelled(store):
    assert cancel(store, dead(store)) is None


def test_a_job_that_does_not_exist_cannot_be_cancelled(store):
    assert cancel(store, "0" * 26) is None


@pytest.mark.parametrize("graceful", [False, True])
@pytest.mark.parametrize("make", [lambda s: enqueue(s, tenant="mine"), lambda s: running(s, tenant="mine").id])
def test_a_job_of_another_tenant_cannot_be_cancelled(store, make, graceful):
    job_id = make(store)
    before = get(store, job_id)
    assert cancel(store, job_id, tenant="theirs", graceful=graceful) is None
    assert get(store, job_id) == before
    assert cancel(store, job_id, tenant="mine", graceful=graceful) is not None


def test_a_cancel_tells_the_job(store):
    job_id = enqueue(store)
    error = '{"class":"Cancelled","message":"","code":"CANCELLED"}'
    news = news_of(store, lambda tx: tx.cancel(job_id, tenant=None, graceful=False, error=error))
    assert news.jobs == [job_id]
