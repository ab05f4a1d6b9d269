"""Shutdown: in time, with exit code 0, nothing stuck, no attempt burned.

Full size: HOLDFAST_STOPS=500 pytest -s tests/worker/test_stopping.py
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from holdfast.cli.storms.processes import Worker
from holdfast.model.status import Status
from tests.patience import wait_for, within
from tests.worker.workshop import Workshop, size, tell

pytestmark = pytest.mark.slow

STOP_SECONDS = 1.0
WORK = (
    ("quick", {}, 40),
    ("nap", {"seconds": 0.05}, 20),
    ("nap", {"seconds": 3600}, 2),
    ("block", {"seconds": 0.05}, 5),
    ("block", {"seconds": 3600}, 1),
    ("alone", {"seconds": 3600}, 1),
    ("alone_nap", {"seconds": 3600}, 1),
    ("hold_loop", {"seconds": 0.3}, 1),
)


def test_many_stops_leave_nothing_stuck_and_burn_no_attempt(tmp_path: Path):
    chance = random.Random(9)
    with Workshop(tmp_path, query="synchronous=full") as workshop:
        took = [one_stop(workshop, chance) for _ in range(size("HOLDFAST_STOPS", 10))]
        interrupted = workshop.count("interrupted > 0")
        tell("stops", {"count": len(took), "longest": max(took), "jobs interrupted": interrupted})
        assert max(took) <= STOP_SECONDS + 5
        assert workshop.count("failed or crashed") == 0
        assert workshop.count("attempts > 0 and status = 'queued'") == 0


def one_stop(workshop: Workshop, chance: random.Random) -> float:
    workshop.log.unlink(missing_ok=True)
    worker = workshop.start("--processes", 2, "--stop-seconds", STOP_SECONDS, ready=False)
    for kind, payload, count in WORK:
        if workshop.count(f"type = '{kind}' and status = 'queued'") < count:
            workshop.enqueue_many(kind, count, payload)
    if chance.random() < 0.15:
        workshop.template(worker)  # it starts up; the signal comes before it can work
    else:
        wait_for(lambda: len(workshop.lines("began")) > chance.randint(0, 60), "work")
    time.sleep(chance.random() * 0.05)  # at any moment of a commit
    begun = time.monotonic()
    stop(worker, chance)
    code = worker.process.wait(STOP_SECONDS + 30)
    took = time.monotonic() - begun
    assert code == 0, workshop.errors()
    assert workshop.count("status = 'in_progress'") == 0
    return took


def stop(worker: Worker, chance: random.Random) -> None:
    worker.process.send_signal(chance.choice((signal.SIGTERM, signal.SIGINT)))
    if chance.random() < 0.3:
        time.sleep(chance.random() * 0.2)
        worker.process.send_signal(chance.choice((signal.SIGTERM, signal.SIGINT)))


def test_what_runs_may_finish_within_the_time_to_stop(workshop: Workshop):
    worker = workshop.start()
    ids = [
        workshop.enqueue("nap", {"seconds": 1}),
        workshop.enqueue("block", {"seconds": 1}),
        workshop.enqueue("alone_nap", {"seconds": 1}),
    ]
    for job_id in ids:
        workshop.begun(job_id)
    worker.process.terminate()
    assert worker.process.wait(60) == 0
    assert {workshop.job(job_id).status for job_id in ids} == {Status.COMPLETED}


def test_what_goes_on_too_long_is_interrupted_and_given_back(workshop: Workshop):
    worker = workshop.start("--stop-seconds", 0.5)
    ids = [workshop.enqueue(kind, {"seconds": 3600}) for kind in ("nap", "block", "alone", "alone_nap")]
    for job_id in ids:
        workshop.begun(job_id)
    worker.process.terminate()
    assert worker.process.wait(6) == 0
    jobs = [workshop.job(job_id) for job_id in ids]
    assert {(job.status, job.attempts, job.interrupted, job.failed, job.crashed) for job in jobs} == {
        (Status.QUEUED, 0, 1, 0, 0)
    }


def test_a_second_signal_stops_at_once(workshop: Workshop):
    worker = workshop.start("--stop-seconds", 60)
    ids = workshop.enqueue_many("nap", 3, {"seconds": 3600})
    for job_id in ids:
        workshop.begun(job_id)
    worker.process.terminate()
    begun = time.monotonic()
    worker.process.send_signal(signal.SIGINT)
    assert worker.process.wait(60) == 0
    assert time.monotonic() - begun < within(5)
    assert {(job.status, job.attempts, job.interrupted) for job in map(workshop.job, ids)} == {(Status.QUEUED, 0, 1)}


def test_a_signal_too_many_does_not_spoil_the_exit_code(workshop: Workshop):
    worker = workshop.start()
    workshop.begun(workshop.enqueue("nap", {"seconds": 3600}))
    while worker.process.poll() is None:
        worker.process.send_signal(signal.SIGINT)
        time.sleep(0.002)
    assert worker.process.returncode == 0


def test_jobs_claimed_and_not_begun_are_back_within_a_second(workshop: Workshop):
    worker = workshop.start("--coroutines", 1, "--stop-seconds", 5)
    ids = workshop.enqueue_many("nap", 40, {"seconds": 0.01})
    workshop.ended(*ids[:20])  # they are quick, so some are held ready
    long = workshop.enqueue("nap", {"seconds": 2}, priority=1)
    workshop.begun(long)
    worker.process.terminate()
    wait_for(lambda: workshop.count("status = 'in_progress'") <= 1, "all but the one that runs", seconds=within(1))
    assert worker.process.wait(60) == 0
    assert workshop.count("attempts > 0 and status = 'queued'") == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_application_is_imported_ends_it_well(workshop: Workshop, number: int):
    worker = workshop.start("--stop-seconds", 60, ready=False, HOLDFAST_TEST_SLOW_IMPORT="30")
    workshop.template(worker)
    begun = time.monotonic()
    worker.process.send_signal(number)
    assert worker.process.wait(60) == 0
    assert time.monotonic() - begun < 20
    assert "died" not in workshop.errors()


def test_a_signal_while_children_are_made_reaches_them(workshop: Workshop):
    """A signal that comes before a child can handle it must not be lost: it would be waited for in vain."""
    for _ in range(3):
        worker = workshop.start("--processes", 6, "--stop-seconds", 60, ready=False)
        wait_for(lambda worker=worker: workshop.children(worker), "the first child", every=0.001)
        begun = time.monotonic()
        worker.process.terminate()
        assert worker.process.wait(60) == 0
        assert time.monotonic() - begun < 30


def test_a_template_that_stands_still_does_not_hold_up_the_end(workshop: Workshop):
    worker = workshop.start("--stop-seconds", 0.5)
    workshop.begun(job_id := workshop.enqueue("nap", {"seconds": 3600}))
    os.kill(workshop.template(worker), signal.SIGSTOP)
    worker.process.terminate()
    assert worker.process.wait(15) == 0
    assert (workshop.job(job_id).status, workshop.job(job_id).attempts) == (Status.QUEUED, 0)
