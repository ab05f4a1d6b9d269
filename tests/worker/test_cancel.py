"""A cancel from another process: immediate stops the handler, graceful lets it complete; with signals and without."""

from __future__ import annotations

import time

import pytest

from holdfast.model.status import Status
from tests.patience import wait_for
from tests.worker.workshop import Workshop

pytestmark = pytest.mark.slow

WITH_AND_WITHOUT = pytest.mark.parametrize("options", [(), ("--no-signals",)], ids=["signals", "polling"])


@WITH_AND_WITHOUT
@pytest.mark.parametrize("type", ["nap", "block"])
def test_an_immediate_cancel_stops_the_handler_within_a_second_and_refuses_its_result(
    workshop: Workshop, options: tuple[str, ...], type: str
):
    workshop.start(*options, HOLDFAST_TEST_LEASE="60")
    job_id = workshop.enqueue(type, {"seconds": 3600})
    workshop.begun(job_id)
    asked = time.time()
    assert workshop.app.cancel(job_id)["status"] == "cancelled"
    (line,) = wait_for(lambda: workshop.lines("stopped", "asked", id=job_id), "the handler to stop")
    assert line.at - asked < 1.5
    job = workshop.job(job_id)
    assert (job.status, job.result, job.failed) == (Status.CANCELLED, None, 0)


@WITH_AND_WITHOUT
@pytest.mark.parametrize("type", ["alone", "alone_nap"])
def test_an_immediate_cancel_ends_the_process_of_an_isolated_job(
    workshop: Workshop, options: tuple[str, ...], type: str
):
    worker = workshop.start(*options, HOLDFAST_TEST_LEASE="60")
    job_id = workshop.enqueue(type, {"seconds": 3600})
    process = workshop.begun(job_id).pid
    asked = time.time()
    workshop.app.cancel(job_id)
    wait_for(lambda: process not in workshop.children(worker), "the end of its process")
    assert time.time() - asked < 1.5
    assert workshop.job(job_id).status is Status.CANCELLED


@WITH_AND_WITHOUT
@pytest.mark.parametrize("type", ["polite", "alone_polite"])
def test_a_graceful_cancel_is_seen_by_the_handler_and_its_result_is_kept(
    workshop: Workshop, options: tuple[str, ...], type: str
):
    workshop.start(*options)
    job_id = workshop.enqueue(type)
    workshop.begun(job_id)
    workshop.app.cancel(job_id, mode="graceful")
    (job,) = workshop.ended(job_id)
    assert (job.status, job.result) == (Status.COMPLETED, "as you wish")


def test_a_graceful_cancel_of_a_run_that_fails_ends_cancelled(workshop: Workshop):
    workshop.start()
    job_id = workshop.enqueue("block", {"seconds": 60})
    workshop.begun(job_id)
    workshop.app.cancel(job_id, mode="graceful")
    (job,) = workshop.ended(job_id)
    assert job.status is Status.CANCELLED


def test_a_late_result_never_overwrites_a_cancel(workshop: Workshop):
    worker = workshop.start()
    job_id = workshop.enqueue("hold_interpreter", {"seconds": 1.2})
    pid = workshop.begun(job_id).pid
    assert workshop.app.cancel(job_id)["status"] == "cancelled"
    # It returns late, or its child is killed first because it stands still.
    wait_for(lambda: workshop.lines("returned", id=job_id) or pid not in workshop.children(worker), "its end")
    workshop.ended(workshop.enqueue("quick"))  # whatever was handed in with it has been judged
    job = workshop.job(job_id)
    assert (job.status, job.result) == (Status.CANCELLED, None)


@WITH_AND_WITHOUT
def test_a_cancel_of_a_group_stops_its_handlers_and_hears_of_their_end(workshop: Workshop, options: tuple[str, ...]):
    workshop.start(*options, HOLDFAST_TEST_LEASE="60")
    ids = [workshop.enqueue(kind, {"seconds": 3600}, group="g") for kind in ("nap", "block", "alone")]
    for job_id in ids:
        workshop.begun(job_id)
    asked = time.time()
    answer = workshop.app.group("g").cancel()
    assert (answer["cancelled"], answer["still_running"]) == (3, 3)
    wait_for(lambda: not workshop.app.desk.read(lambda tx: tx.still_running(ids)), "the handlers to stop")
    assert time.time() - asked < 2.5
    assert {workshop.job(job_id).status for job_id in ids} == {Status.CANCELLED}


def test_a_full_cancel_is_answered_when_the_handlers_have_stopped(workshop: Workshop):
    workshop.start(HOLDFAST_TEST_LEASE="60")
    answers = []
    for _ in range(3):
        job_id = workshop.enqueue("nap", {"seconds": 3600}, group="g")
        workshop.begun(job_id)
        answers.append(workshop.app.group("g").cancel(mode="full")["still_running"])
    assert 0 in answers  # a busy machine may need longer than half a second, once or twice
