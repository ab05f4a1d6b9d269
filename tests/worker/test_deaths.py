"""Somebody is killed: the rest notices at once, nothing lives on unseen, and the jobs run again.

Full size: HOLDFAST_DEATHS=50 pytest -s tests/worker/test_deaths.py
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from holdfast.cli.storms.processes import left_after, marked
from holdfast.model.status import Status
from tests.patience import wait_for, within
from tests.worker.workshop import Workshop, size, tell

pytestmark = pytest.mark.slow


def test_a_killed_child_is_replaced_and_its_run_begins_again_within_a_second(workshop: Workshop):
    workshop.start("--processes", 2)
    waits = []
    for _ in range(size("HOLDFAST_DEATHS", 6)):
        job_id = workshop.enqueue("nap", {"seconds": 0.6}, max_attempts=10)
        first = workshop.begun(job_id)
        killed = time.time()
        os.kill(first.pid, signal.SIGKILL)
        waits.append(workshop.begun(job_id, 2).at - killed)
        workshop.ended(job_id)
    waits.sort()
    tell("death of a child to the next run", {"p50": waits[len(waits) // 2], "p99": waits[-1], "of": len(waits)})
    assert waits[-1] < 1.0


def test_a_single_run_in_a_killed_child_counts_as_crashed_and_runs_alone(workshop: Workshop):
    worker = workshop.start()
    job_id = workshop.enqueue("nap", {"seconds": 0.5})
    first = workshop.begun(job_id)
    os.kill(first.pid, signal.SIGKILL)
    (job,) = workshop.ended(job_id)
    assert (job.status, job.attempts, job.crashed) == (Status.COMPLETED, 2, 1)
    second = workshop.begun(job_id, 2).pid
    assert second != first.pid
    wait_for(lambda: second not in workshop.children(worker), "a process of its own ends with its job")


def test_several_runs_in_a_killed_child_are_suspects_that_lose_no_attempt(workshop: Workshop):
    workshop.start()
    ids = workshop.enqueue_many("nap", 5, {"seconds": 0.5})
    for job_id in ids:
        workshop.begun(job_id)
    os.kill(workshop.lines("began")[0].pid, signal.SIGKILL)
    jobs = workshop.ended(*ids)
    assert {(job.status, job.attempts, job.crashed) for job in jobs} == {(Status.COMPLETED, 1, 0)}
    pids = {workshop.begun(job_id, 2).pid for job_id in ids}
    assert len(pids) == 5  # each alone


def test_the_death_of_one_child_does_not_touch_another_whose_number_begins_alike(workshop: Workshop):
    worker = workshop.start("--processes", 11, "--coroutines", 1, "--prefetch", 0)
    wait_for(lambda: len(workshop.children(worker)) == 11, "eleven children")
    ids = workshop.enqueue_many("nap", 11, {"seconds": 4})
    for job_id in ids:
        workshop.begun(job_id)
    first_child = next(
        line.pid for line in workshop.lines("began") if (workshop.job(line.id).lease_owner or "").endswith("/1-child")
    )
    os.kill(first_child, signal.SIGKILL)
    jobs = workshop.ended(*ids)
    assert sorted(job.attempts for job in jobs) == [1] * 10 + [2]
    assert len(workshop.lines("began")) == 12


def test_a_killed_template_is_started_anew_and_the_jobs_run_again(workshop: Workshop):
    worker = workshop.start("--processes", 2)
    ids = workshop.enqueue_many("nap", 4, {"seconds": 0.5})
    for job_id in ids:
        workshop.begun(job_id)
    before = set(workshop.children(worker))
    os.kill(workshop.template(worker), signal.SIGKILL)
    wait_for(lambda: not before & set(marked(workshop.mark)), "the end of the children", seconds=within(2))
    jobs = workshop.ended(*ids)
    assert {job.status for job in jobs} == {Status.COMPLETED}
    assert worker.process.poll() is None


def test_a_template_killed_again_and_again_takes_nobody_along(workshop: Workshop):
    worker = workshop.start("--processes", 8, ready=False)
    struck: set[int] = set()
    for _ in range(3):
        template = wait_for(lambda: {*worker.family(marked(workshop.mark))[0]} - struck, "a new template").pop()
        struck.add(template)
        os.kill(template, signal.SIGKILL)
    workshop.ended(workshop.enqueue("quick"))
    assert worker.process.poll() is None


def test_killing_a_child_that_has_no_number_yet_harms_nobody():
    """To the kernel, process 0 is one's own group."""
    program = "from holdfast.worker.death import kill_group; kill_group(0); print('alive')"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, start_new_session=True)
    assert answer.stdout == b"alive\n"


def test_an_application_that_cannot_be_loaded_is_told_and_ends_the_worker(workshop: Workshop):
    worker = workshop.start("--queues", "default", ready=False, HOLDFAST_TEST_SLOW_IMPORT="never")
    assert worker.process.wait(30) == 2
    assert "the application could not be loaded: ValueError: could not convert string to float" in workshop.errors()


def test_a_whole_worker_killed_leaves_no_process_and_the_next_one_takes_over_at_once(workshop: Workshop):
    worker = workshop.start("--processes", 2, HOLDFAST_TEST_LEASE="60")
    ids = [*workshop.enqueue_many("nap", 4, {"seconds": 3}), workshop.enqueue("alone", {"seconds": 3})]
    for job_id in ids:
        workshop.begun(job_id)
    worker.kill()
    assert left_after(workshop.mark, 2) == []
    assert workshop.count("status = 'in_progress'") == 5  # their leases last for another minute

    workshop.start("--processes", 2, HOLDFAST_TEST_LEASE="60")
    begun = time.monotonic()
    wait_for(lambda: all(len(workshop.lines("began", id=one)) == 2 for one in ids), "the second runs")
    took = time.monotonic() - begun
    tell("a new worker to the runs of a killed one", took)
    assert took < within(3)
    assert {job.status for job in workshop.ended(*ids)} == {Status.COMPLETED}


def test_another_living_worker_takes_over_within_seconds(workshop: Workshop):
    first = workshop.start(HOLDFAST_TEST_LEASE="60")
    ids = workshop.enqueue_many("nap", 3, {"seconds": 3600})
    for job_id in ids:
        workshop.begun(job_id)
    workshop.start(HOLDFAST_TEST_LEASE="60")
    killed = time.time()
    first.kill()
    waits = [workshop.begun(job_id, 2).at - killed for job_id in ids]
    tell("death of a worker to the next runs", waits)
    assert max(waits) < within(2.5)


def test_jobs_that_a_killed_worker_had_not_begun_are_unharmed(workshop: Workshop):
    worker = workshop.start("--coroutines", 1, HOLDFAST_TEST_LEASE="60")
    workshop.ended(*workshop.enqueue_many("nap", 100, {"seconds": 0}))
    with workshop.app.transaction():  # known to be quick, so many are taken at once and held ready
        slow = workshop.enqueue("nap", {"seconds": 2}, priority=1)
        rest = [workshop.enqueue("nap", {"seconds": 0}, priority=2) for _ in range(30)]
    wait_for(
        lambda: workshop.count("status = 'in_progress'") > 5 and workshop.lines("began", id=slow), "a few", every=0
    )
    worker.kill()
    held = workshop.count("status = 'in_progress'")
    assert held > 5
    workshop.start(HOLDFAST_TEST_LEASE="60")
    job, *others = workshop.ended(slow, *rest)
    assert (job.status, job.attempts, job.crashed) == (Status.COMPLETED, 2, 1)
    assert {(one.status, one.attempts, one.crashed) for one in others} == {(Status.COMPLETED, 1, 0)}


def test_the_files_of_ended_children_and_killed_workers_do_not_pile_up(workshop: Workshop):
    folder = workshop.folder / "jobs.db-holdfast"
    first = workshop.start()
    workshop.ended(*workshop.enqueue_many("alone", 12, {"seconds": 0}))
    wait_for(lambda: len(list(folder.glob("*.room/*.slots"))) == 1, "one file, of the child that lives")
    first.kill()
    second = workshop.start()
    wait_for(lambda: len(list(folder.glob("*.room"))) == 1, "one room, of the worker that lives")
    assert second.end(10) == 0
    assert [path for path in folder.iterdir() if path.suffix != ".socket"] == []


def test_what_a_handler_started_dies_with_its_child(workshop: Workshop):
    workshop.start()
    job_id = workshop.enqueue("poison", {"kind": "fork bomb"}, max_attempts=1)
    workshop.ended(job_id)
    wait_for(lambda: len(marked(workshop.mark)) < 10, "the end of what it forked")
