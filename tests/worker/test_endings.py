"""Whatever a handler returns or raises becomes one ending, on a real worker."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import apsw
import pytest

import holdfast
from holdfast.model.job import Job
from holdfast.model.status import Status
from tests.patience import wait_for
from tests.worker.workshop import Workshop

pytestmark = pytest.mark.slow


def code_of(job: Job) -> str:
    assert job.error is not None
    return str(job.error["code"])


def test_every_kind_of_error_ends_the_run_and_harms_no_neighbour(workshop: Workshop):
    worker = workshop.start()
    children = workshop.children(worker)
    neighbour = workshop.enqueue("nap", {"seconds": 2})
    workshop.begun(neighbour)
    kinds = ("exit", "interrupt", "hostile", "cancelled", "stop", "huge")
    types = ("raising", "raising_in_thread", "raising_alone")
    ids = [workshop.enqueue(kind, {"kind": error}) for kind in types for error in kinds]
    for job in workshop.ended(*ids):
        assert (job.status, job.failed, job.crashed, job.interrupted) == (Status.DEAD_LETTER, 1, 0, 0), job
        assert code_of(job) == "HANDLER_ERROR"
        assert len(json.dumps(job.error)) < 10_000
        assert f"dead-lettered job_id={job.id}" in workshop.errors() or job.type == "raising_alone"
    (other,) = workshop.ended(neighbour)
    assert (other.attempts, other.interrupted, other.crashed) == (1, 0, 0)
    assert workshop.children(worker)[:1] == children


@pytest.mark.parametrize("kind", ["set of objects", "huge", "surrogate", "self"])
def test_a_result_that_cannot_be_stored_ends_the_job_as_failed(workshop: Workshop, kind: str):
    workshop.start()
    (job,) = workshop.ended(workshop.enqueue("unstorable", {"kind": kind}))
    assert (job.status, job.attempts, code_of(job)) == (Status.FAILED, 1, "RESULT_UNSTORABLE")


def test_an_ending_that_the_store_refuses_fails_alone(workshop: Workshop):
    connection = apsw.Connection(str(workshop.database))
    connection.execute("""create trigger refuse before update on job_queue when new.result = '"rested"' begin
        select raise(abort, 'no such result here'); end""")
    connection.close()
    workshop.start()
    bad = [workshop.enqueue(kind, {"seconds": 0.1}) for kind in ("nap", "alone_nap")]
    good = workshop.enqueue_many("quick", 50)
    for job in workshop.ended(*bad):
        assert (job.status, job.attempts, code_of(job)) == (Status.FAILED, 1, "RESULT_UNSTORABLE")
    assert {job.status for job in workshop.ended(*good)} == {Status.COMPLETED}
    assert "away" not in workshop.errors()


def test_a_payload_that_no_longer_fits_its_handler_ends_as_failed(workshop: Workshop, tmp_path: Path):
    stranger = holdfast.App(workshop.url)  # knows no handler, so it checks nothing
    ids = [stranger.enqueue("counted", {"number": "seven"}).id, stranger.enqueue("alone", {"minutes": 1}).id]
    stranger.close()
    workshop.start()
    for job in workshop.ended(*ids):
        assert (job.status, job.attempts, job.crashed, code_of(job)) == (Status.FAILED, 1, 0, "PAYLOAD_INVALID")


def test_unknown_types_are_left_waiting(workshop: Workshop):
    stranger = holdfast.App(workshop.url)
    unknown = stranger.enqueue("of_another_service").id
    stranger.close()
    workshop.start()
    workshop.ended(workshop.enqueue("quick"))
    job = workshop.job(unknown)
    assert (job.status, job.attempts) == (Status.QUEUED, 0)


def test_a_worker_takes_older_payloads_and_leaves_newer_ones(workshop: Workshop):
    ids = {version: workshop.enqueue("second_edition", {"text": "x"}) for version in (1, 2, 3)}
    connection = apsw.Connection(str(workshop.database))
    connection.set_busy_timeout(10_000)
    for version, job_id in ids.items():
        connection.execute("update job_queue set payload_version = ? where id = ?", (version, job_id))
    connection.close()
    workshop.start()
    done = workshop.ended(ids[1], ids[2])
    assert {job.status for job in done} == {Status.COMPLETED}
    workshop.ended(workshop.enqueue("quick"))
    assert (workshop.job(ids[3]).status, workshop.job(ids[3]).attempts) == (Status.QUEUED, 0)


def test_suspects_do_not_wait_behind_a_long_line_of_isolated_jobs(workshop: Workshop):
    worker = workshop.start("--alone", 1)
    suspects = workshop.enqueue_many("nap", 2, {"seconds": 1})
    for job_id in suspects:
        workshop.begun(job_id)
    line = workshop.enqueue_many("alone", 40, {"seconds": 0.5}, priority=1)
    os.kill(workshop.lines("began")[0].pid, signal.SIGKILL)
    jobs: list[Any] = workshop.ended(*suspects)
    assert {job.attempts for job in jobs} == {1}
    assert not all(workshop.job(job_id).ended for job_id in line)
    worker.kill()


def test_a_worker_draws_only_from_the_queues_it_was_given(workshop: Workshop):
    workshop.start("--queues", "a=1")
    in_a, in_b = workshop.enqueue("quick", queue="a"), workshop.enqueue("quick", queue="b")
    workshop.ended(in_a)
    assert workshop.job(in_b).status is Status.QUEUED
    workshop.start("--queues", "b")
    wait_for(lambda: workshop.job(in_b).ended, "the other worker")
