"""Handlers and applications that do what nobody should: the worker goes on, and says what is wrong."""

from __future__ import annotations

import shutil

import pytest

from holdfast.model.status import Status
from tests.patience import wait_for
from tests.worker.workshop import Workshop

pytestmark = pytest.mark.slow


def test_a_handler_that_closes_the_application_stops_nobody(workshop: Workshop):
    worker = workshop.start()
    (child,) = workshop.children(worker)
    ids = [workshop.enqueue("closing"), *workshop.enqueue_many("quick", 3), workshop.enqueue("closing")]
    assert {job.status for job in workshop.ended(*ids)} == {Status.COMPLETED}
    assert workshop.children(worker) == [child]


@pytest.mark.parametrize("type", ["forking", "forking_loop"])
def test_the_copy_of_a_handler_that_forked_takes_no_work(workshop: Workshop, type: str):
    worker = workshop.start()
    (child,) = workshop.children(worker)
    ids = workshop.enqueue_many(type, 5)
    assert {job.result for job in workshop.ended(*ids)} == {"original"}
    others = workshop.enqueue_many("quick", 50)
    workshop.ended(*others)
    assert {line.pid for one in others for line in workshop.lines("began", id=one)} == {child}
    assert {len(workshop.lines("returned", id=one)) for one in ids} == {2}
    wait_for(lambda: workshop.children(worker) == [child], "the end of the copies")


def test_an_application_that_cannot_be_loaded_says_what_and_where_and_no_secret(workshop: Workshop):
    worker = workshop.start(ready=False, HOLDFAST_TEST_BAD_IMPORT="raises")
    assert worker.process.wait(20) == 2
    said = workshop.errors()
    assert "ValueError: cannot reach amqp://[REDACTED]@localhost" in said
    assert "application.py, line " in said
    assert "secret" not in said


def test_an_application_whose_import_ends_its_process_is_given_up(workshop: Workshop):
    worker = workshop.start(ready=False, HOLDFAST_TEST_BAD_IMPORT="dies")
    assert worker.process.wait(30) == 2
    assert "ended its process 5 times, last by exit code 7" in workshop.errors()


@pytest.mark.parametrize("together", [False, True], ids=["the file", "the file and its folder"])
def test_a_database_that_is_replaced_under_a_worker_is_opened_anew(workshop: Workshop, together: bool):
    workshop.start()
    workshop.ended(workshop.enqueue("quick"))
    for path in workshop.folder.glob("jobs.db*"):
        if path.is_file():
            path.unlink()
        elif together:
            shutil.rmtree(path)
    job_id = workshop.enqueue("quick")
    (job,) = workshop.ended(job_id)
    assert job.status is Status.COMPLETED
    assert workshop.count("1") == 1
    assert "was removed or replaced" in workshop.errors()


def test_each_run_leaves_a_line_with_its_fields(workshop: Workshop):
    workshop.start("--log-level", "info")
    done, dead = workshop.enqueue("quick"), workshop.enqueue("raising", {"kind": "stop"})
    workshop.ended(done, dead)
    said = wait_for(lambda: (text := workshop.errors()).count("duration_ms=") >= 4 and text, "the lines")
    assert f"claimed job_id={done} job_type=quick worker_id=" in said
    assert f"completed job_id={done} job_type=quick worker_id=" in said
    assert f"dead-lettered job_id={dead} job_type=raising worker_id=" in said
    assert "attempts=1 duration_ms=" in said


def test_a_child_that_was_killed_leaves_no_socket_behind(workshop: Workshop):
    worker = workshop.start("--stop-seconds", 1)
    workshop.enqueue("hold_interpreter", {"seconds": 60})
    wait_for(lambda: workshop.lines("began"), "the run")
    worker.process.terminate()
    worker.process.wait(20)
    assert list(workshop.folder.glob("jobs.db-holdfast/*.socket")) == []
