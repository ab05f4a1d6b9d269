from __future__ import annotations

import pytest

from holdfast.model import stamp
from holdfast.model.outcome import Abandoned, Stopped
from holdfast.model.policy import Policy
from holdfast.model.status import Status
from tests.store.given import (
    DONE,
    FAILED,
    HOUR,
    LEASE,
    NOON,
    RAISED,
    cancel,
    claim_one,
    dead,
    ended,
    enqueue,
    finish,
    get,
    news_of,
    recover,
    retry,
    running,
)  # fmt: skip


@pytest.mark.parametrize("make", [dead, lambda store: ended(store, FAILED)])
def test_a_person_sends_a_job_round_again(store, clock, make):
    job_id = make(store)
    clock.forward(HOUR)
    assert retry(store, job_id)
    job = get(store, job_id)
    assert job.status is Status.QUEUED
    assert job.scheduled_at == job.updated_at == stamp.to_datetime(NOON + HOUR)
    assert (job.completed_at, job.result, job.error, job.progress) == (None, None, None, None)
    assert claim_one(store).id == job_id


def test_counters_start_anew_but_the_token_goes_on(store, clock):
    run = running(store, max_attempts=2)
    finish(store, run, RAISED)
    clock.forward(HOUR)
    claim_one(store)
    clock.forward(LEASE + 1)
    recover(store)
    before = get(store, run.id)
    assert (before.status, before.attempts, before.failed, before.crashed) == (Status.DEAD_LETTER, 2, 1, 1)
    retry(store, run.id)
    job = get(store, run.id)
    assert (job.attempts, job.failed, job.crashed) == (0, 0, 0)
    assert job.lease_token == before.lease_token
    assert job.version == before.version + 1
    assert claim_one(store).token == before.lease_token + 1


def test_interruptions_stay_on_record(store):
    run = running(store, max_attempts=1)
    finish(store, run, Stopped())
    finish(store, claim_one(store), RAISED)
    retry(store, run.id)
    assert get(store, run.id).interrupted == 1


def test_a_job_sent_round_again_has_all_its_attempts(store, clock):
    job_id = dead(store)
    retry(store, job_id)
    finish(store, claim_one(store), RAISED)
    assert get(store, job_id).status is Status.DEAD_LETTER
    assert get(store, job_id).attempts == 1


def test_crashes_count_from_zero_again(store, clock):
    policy = Policy(max_crashes=1)
    run = running(store)
    clock.forward(LEASE + 1)
    recover(store, policy=policy)
    assert get(store, run.id).status is Status.DEAD_LETTER
    retry(store, run.id)
    assert claim_one(store).crashed == 0


def test_a_waiting_job_cannot_be_retried(store):
    job_id = enqueue(store)
    before = get(store, job_id)
    assert not retry(store, job_id)
    assert get(store, job_id) == before


def test_a_running_job_cannot_be_retried(store):
    run = running(store)
    assert not retry(store, run.id)
    assert get(store, run.id).status is Status.IN_PROGRESS


@pytest.mark.parametrize("outcome", [DONE, Abandoned()])
def test_a_completed_or_cancelled_job_cannot_be_retried(store, outcome):
    job_id = ended(store, outcome)
    assert not retry(store, job_id)


def test_a_job_of_another_tenant_cannot_be_retried(store):
    job_id = dead(store, tenant="mine")
    assert not retry(store, job_id, "theirs")
    assert retry(store, job_id, "mine")


def test_a_job_that_does_not_exist_cannot_be_retried(store):
    assert not retry(store, "0" * 26)


def test_a_job_that_was_cancelled_while_waiting_for_a_retry_stays_cancelled(store):
    job_id = dead(store)
    retry(store, job_id)
    cancel(store, job_id)
    assert not retry(store, job_id)


def test_a_retry_tells_its_job_and_its_queue(store):
    job_id = dead(store, queue="gpu")
    news = news_of(store, lambda tx: tx.retry(job_id))
    assert (news.jobs, news.queues) == ([job_id], {"gpu"})
