"""A lease is kept while its handler lives, whatever the handler does to its process; and a time-out is kept too."""

from __future__ import annotations

import time

import pytest

from holdfast.model.status import Status
from tests.patience import wait_for, within
from tests.worker.workshop import Workshop

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("type", ["hold_interpreter", "hold_loop"])
def test_a_handler_that_holds_the_interpreter_for_three_leases_keeps_its_lease(workshop: Workshop, type: str):
    workshop.start()
    workshop.start()  # another worker, ready to take what expires
    neighbours = workshop.enqueue_many("nap", 5, {"seconds": 0.5})
    job_id = workshop.enqueue(type, {"seconds": 3.5})
    job, *others = workshop.ended(job_id, *neighbours)
    assert (job.status, job.attempts, job.crashed, job.result) == (Status.COMPLETED, 1, 0, "held")
    assert len(workshop.lines("began", id=job_id)) == 1
    assert {(one.status, one.attempts, one.crashed) for one in others} == {(Status.COMPLETED, 1, 0)}


def test_what_a_stuck_child_had_not_begun_runs_elsewhere_and_loses_no_attempt(workshop: Workshop):
    workshop.start("--coroutines", 2)
    warm = workshop.enqueue_many("quick", 50)
    workshop.ended(*warm)  # jobs are known to be quick: more are held ready
    workshop.enqueue("hold_loop", {"seconds": 4}, priority=1)
    workshop.enqueue_many("quick", 200)
    wait_for(lambda: workshop.lines("began") and workshop.count("type = 'hold_loop' and status = 'in_progress'"), "it")
    workshop.start("--coroutines", 2)
    begun = time.monotonic()
    wait_for(lambda: not workshop.count("type = 'quick' and status <> 'completed'"), "the others")
    assert time.monotonic() - begun < within(15)
    workshop.settled()
    assert workshop.count("crashed or failed or attempts <> 1") == 0


def test_what_had_a_place_behind_a_blocked_loop_runs_elsewhere_and_the_blocker_goes_on(workshop: Workshop):
    """All are begun in one go; the first blocks the loop before the others are entered."""
    with workshop.app.transaction():
        blocker = workshop.enqueue("hold_loop", {"seconds": 15}, priority=1)
        others = [workshop.enqueue("quick") for _ in range(20)]
    workshop.start(HOLDFAST_TEST_LEASE="60")
    workshop.begun(blocker)
    workshop.start("--queues", "default", HOLDFAST_TEST_LEASE="60")
    begun = time.monotonic()
    workshop.ended(*others)
    assert time.monotonic() - begun < 12
    (job,) = workshop.ended(blocker)
    assert (job.status, job.attempts, job.interrupted) == (Status.COMPLETED, 1, 0)
    assert workshop.count("crashed or failed or attempts <> 1") == 0
    assert {len(workshop.lines("began", id=one)) for one in others} == {1}


@pytest.mark.parametrize("type", ["deaf", "stuck"])
def test_a_handler_that_will_not_stop_is_ended_with_its_child(workshop: Workshop, type: str):
    worker = workshop.start()
    (child,) = workshop.children(worker)
    neighbours = workshop.enqueue_many("nap", 4, {"seconds": 20})
    for job_id in neighbours:
        workshop.begun(job_id)
    job_id = workshop.enqueue(type)
    (job,) = workshop.ended(job_id)
    assert job.error is not None
    assert (job.status, job.failed, job.crashed, job.error["code"]) == (Status.DEAD_LETTER, 1, 0, "TIMEOUT")
    for one in neighbours:
        workshop.begun(one, 2)
    assert child not in workshop.children(worker)
    counters = {(job.failed, job.crashed, job.attempts, job.interrupted) for job in map(workshop.job, neighbours)}
    assert counters == {(0, 0, 1, 1)}


def test_a_coroutine_past_its_time_out_is_cancelled_and_its_neighbours_notice_nothing(workshop: Workshop):
    worker = workshop.start()
    before = workshop.children(worker)
    neighbour = workshop.enqueue("nap", {"seconds": 3})
    job, other = workshop.ended(workshop.enqueue("late"), neighbour)
    assert job.error is not None
    assert (job.status, job.failed, job.error["code"]) == (Status.DEAD_LETTER, 1, "TIMEOUT")
    assert (other.attempts, other.interrupted) == (1, 0)
    assert workshop.children(worker) == before


def test_a_child_that_stands_still_with_the_write_lock_is_ended_in_time(workshop: Workshop):
    """Nobody can write until it is killed, and the supervisor must not wait for the lock to do so."""
    workshop.start(HOLDFAST_TEST_LEASE="60")
    job_id = workshop.enqueue("seize")
    first = workshop.begun(job_id)
    (job,) = workshop.ended(job_id)
    assert job.error is not None
    assert (job.status, job.error["code"]) == (Status.DEAD_LETTER, "TIMEOUT")
    assert time.time() - first.at < 8
    assert workshop.errors().count("the store is away") <= 1


def test_an_isolated_job_past_its_time_out_is_killed_in_time(workshop: Workshop):
    workshop.start()
    job_id = workshop.enqueue("alone", {"seconds": 60}, timeout=0.5, max_attempts=1)
    first = workshop.begun(job_id)
    (job,) = workshop.ended(job_id)
    assert job.error is not None
    assert (job.status, job.error["code"]) == (Status.DEAD_LETTER, "TIMEOUT")
    assert job.error["message"] == "ran longer than its time-out of 0.5 s: its process was killed"
    assert time.time() - first.at < 3
