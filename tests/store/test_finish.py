from __future__ import annotations

import json

import pytest

from holdfast.model import stamp
from holdfast.model.decide import decide
from holdfast.model.outcome import Abandoned, Raised, Returned, Snoozed, Stopped, Unstarted
from holdfast.model.policy import DEFAULT_POLICY
from holdfast.model.status import Status
from holdfast.store.port import Ending
from tests.store.given import (
    CRASHED,
    DAY,
    DONE,
    FAILED,
    FAILURE,
    HOUR,
    LEASE,
    MINUTE,
    NOON,
    RAISED,
    SECOND,
    cancel,
    claim_one,
    dead,
    ended,
    finish,
    get,
    news_of,
    recover,
    retry,
    running,
    write,
)  # fmt: skip

FROM_EVERY_ENDING = [DONE, FAILED, RAISED, CRASHED, Snoozed(SECOND), Stopped(), Unstarted(), Abandoned()]


def test_a_run_that_returned_is_completed_with_its_result(store, clock):
    run = running(store)
    clock.forward(SECOND)
    assert finish(store, run, DONE)
    job = get(store, run.id)
    assert job.status is Status.COMPLETED
    assert job.ended
    assert (job.result, job.error, job.version) == ({"sent": True}, None, 3)
    assert job.completed_at == job.updated_at == stamp.to_datetime(NOON + SECOND)
    assert (job.attempts, job.failed, job.crashed, job.interrupted) == (1, 0, 0, 0)


def test_a_run_may_return_nothing(store):
    assert get(store, ended(store, Returned())).result is None


@pytest.mark.parametrize("outcome", FROM_EVERY_ENDING)
def test_every_ending_gives_the_lease_back(store, outcome):
    job = get(store, ended(store, outcome))
    assert (job.lease_owner, job.lease_until, job.lease_token) == (None, None, 1)
    assert (job.completed_at is not None) == job.ended


def test_a_failure_that_may_be_cured_goes_back_to_its_queue_with_its_error(store):
    job = get(store, ended(store, RAISED))
    assert job.status is Status.QUEUED
    assert job.error == {"class": "ValueError", "message": "the address is wrong", "code": "HANDLER_ERROR"}
    assert job.scheduled_at == stamp.to_datetime(NOON + 2 * SECOND)
    assert (job.attempts, job.failed, job.completed_at) == (1, 1, None)


def test_a_handler_may_choose_when_it_is_tried_again(store):
    job = get(store, ended(store, Raised(FAILURE, after_ms=HOUR)))
    assert job.scheduled_at == stamp.to_datetime(NOON + HOUR)


def test_a_time_beyond_the_year_9999_ends_there(store):
    job = get(store, ended(store, Snoozed(stamp.LAST)))
    assert job.scheduled_at == stamp.to_datetime(stamp.LAST)


def test_an_error_that_retrying_cannot_cure_ends_the_job_failed(store):
    job = get(store, ended(store, FAILED, max_attempts=1))
    assert (job.status, job.failed, job.error["class"]) == (Status.FAILED, 1, "ValueError")


def test_the_last_attempt_that_raises_makes_a_dead_letter(store, clock):
    run = running(store, max_attempts=2)
    finish(store, run, RAISED)
    clock.forward(HOUR)
    finish(store, claim_one(store), RAISED)
    job = get(store, run.id)
    assert (job.status, job.attempts, job.failed) == (Status.DEAD_LETTER, 2, 2)


def test_a_job_that_completes_after_a_failure_shows_no_error(store, clock):
    job_id = ended(store, RAISED)
    clock.forward(HOUR)
    finish(store, claim_one(store), DONE)
    job = get(store, job_id)
    assert (job.status, job.error, job.failed, job.attempts) == (Status.COMPLETED, None, 1, 2)


def test_a_snooze_spends_no_attempt_and_waits(store):
    job = get(store, ended(store, Snoozed(MINUTE)))
    assert (job.status, job.attempts, job.failed) == (Status.QUEUED, 0, 0)
    assert job.scheduled_at == stamp.to_datetime(NOON + MINUTE)


def test_an_interrupted_run_spends_no_attempt_and_keeps_its_turn(store):
    job = get(store, ended(store, Stopped(), priority=3))
    assert (job.status, job.attempts, job.interrupted) == (Status.QUEUED, 0, 1)
    assert job.scheduled_at == job.created_at


def test_a_release_leaves_nothing_but_the_token(store):
    job = get(store, ended(store, Unstarted()))
    assert (job.status, job.attempts, job.interrupted, job.lease_token) == (Status.QUEUED, 0, 0, 1)


def test_an_interruption_keeps_the_error_of_the_run_before(store, clock):
    job_id = ended(store, RAISED)
    clock.forward(HOUR)
    finish(store, claim_one(store), Stopped())
    assert get(store, job_id).error["class"] == "ValueError"


def test_a_run_that_gave_up_is_cancelled(store):
    job = get(store, ended(store, Abandoned()))
    assert (job.status, job.error["code"]) == (Status.CANCELLED, "CANCELLED")


def test_an_expired_lease_that_nobody_took_can_still_finish(store, clock):
    run = running(store)
    clock.forward(LEASE + DAY)
    assert finish(store, run, DONE)


@pytest.mark.parametrize("outcome", FROM_EVERY_ENDING)
@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_finish_with_another_token_is_refused(store, outcome, wrong):
    run = running(store)
    before = get(store, run.id)
    assert not finish(store, run._replace(token=run.token + wrong), outcome)
    assert get(store, run.id) == before


@pytest.mark.parametrize("outcome", FROM_EVERY_ENDING)
def test_a_worker_that_lost_its_lease_cannot_finish(store, clock, outcome):
    old = running(store)
    clock.forward(LEASE + 1)
    recover(store)
    new = claim_one(store, owner="second")
    before = get(store, old.id)
    assert not finish(store, old, outcome)
    assert get(store, old.id) == before
    assert finish(store, new, DONE)


@pytest.mark.parametrize("first", FROM_EVERY_ENDING)
def test_a_run_ends_once(store, first):
    run = running(store)
    assert finish(store, run, first)
    before = get(store, run.id)
    assert not finish(store, run, Returned('"late"'))
    assert get(store, run.id) == before


def test_a_late_finish_never_overwrites_a_cancel(store):
    run = running(store)
    cancel(store, run.id)
    assert not finish(store, run, DONE)
    assert status_of(store, run) is Status.CANCELLED


def test_an_old_token_stays_refused_after_a_retry_by_hand(store):
    job_id = dead(store)
    retry(store, job_id)
    new = claim_one(store, owner="second")
    assert not finish(store, new._replace(token=1), DONE)
    assert new.token == 2


def test_one_call_ends_many_runs_and_answers_each(store):
    runs = [running(store) for _ in range(4)]
    cancel(store, runs[1].id)
    answers = write(store, lambda tx: tx.finish([Ending(run, move(run, DONE)) for run in runs]))
    assert answers == [True, False, True, True]
    assert [status_of(store, run) for run in runs] == [
        Status.COMPLETED, Status.CANCELLED, Status.COMPLETED, Status.COMPLETED
    ]  # fmt: skip


def test_each_of_many_runs_keeps_its_own_result_whatever_is_in_it(store):
    results = [
        None,
        "null",
        '""',
        '{"a":":\\u0000\\n\\"\\\\"}',
        '"\u00e9\u2028\U0001f642 \x7f"',
        f'"{"x" * 70_000}"',
        "[1.50]",
    ]
    runs = [running(store) for _ in results]
    endings = [Ending(run, move(run, Returned(result))) for run, result in zip(runs, results, strict=True)]
    assert write(store, lambda tx: tx.finish(endings)) == [True] * len(results)
    kept = [get(store, run.id).result for run in runs]
    assert kept == [None if result is None else json.loads(result) for result in results]


def test_a_second_run_that_went_well_ends_beside_first_ones(store, clock):
    runs = [running(store) for _ in range(2)]
    finish(store, runs[0], Snoozed(0))
    again = claim_one(store)
    old, others = runs[0], [again, runs[1]]
    assert again.token == old.token + 1
    assert write(store, lambda tx: tx.finish([Ending(run, move(run, DONE)) for run in (old, runs[1])])) == [False, True]
    assert status_of(store, again) is Status.IN_PROGRESS
    assert write(store, lambda tx: tx.finish([Ending(run, move(run, DONE)) for run in others])) == [True, False]


def test_runs_with_ties_and_runs_without_end_in_one_call(store, clock):
    plain = running(store)
    keyed = running(store, key="k", key_window="active")
    grouped = running(store, group="g")
    endings = [Ending(run, move(run, DONE)) for run in (plain, keyed, grouped)]
    told = news_of(store, lambda tx: tx.finish(endings))
    assert sorted(told.jobs) == sorted(run.id for run in (plain, keyed, grouped))
    assert len(told.groups) == 1
    assert get(store, keyed.id).idempotency_key is None
    counted = [count for *_, count in store.read(lambda tx: tx.figures(0))]
    assert sum(counted) == 2 * len(endings)


def test_a_run_that_is_named_twice_in_one_call_ends_once(store):
    run = running(store)
    endings = [DONE, RAISED]
    answers = write(store, lambda tx: tx.finish([Ending(run, move(run, each)) for each in endings]))
    assert answers == [True, False]
    assert status_of(store, run) is Status.COMPLETED


def test_no_endings_are_no_endings(store):
    assert write(store, lambda tx: tx.finish([])) == []


def test_a_finish_tells_its_job_and_the_queue_it_goes_back_to(store):
    done, again = running(store, queue="x"), running(store, queue="y")
    news = news_of(store, lambda tx: tx.finish([Ending(done, move(done, DONE)), Ending(again, move(again, RAISED))]))
    assert sorted(news.jobs) == sorted([done.id, again.id])
    assert news.queues == {"y"}


def test_a_refused_finish_tells_no_one(store):
    run = running(store)
    cancel(store, run.id)
    assert not news_of(store, lambda tx: tx.finish([Ending(run, move(run, DONE))]))


def status_of(store, run):
    return get(store, run.id).status


def move(run, outcome):
    return decide(run, outcome, DEFAULT_POLICY, spread=0.0)
