"""The store is away for some seconds: it is said once, handlers go on, and nothing is lost."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from holdfast.model.news import News
from holdfast.model.status import Status
from tests.patience import wait_for, within
from tests.worker.workshop import ROOT, Workshop

pytestmark = pytest.mark.slow

PATIENCE = 1.0  # instead of the 30 seconds that a worker waits for a lock


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Another program holds the write lock."""
    connection = apsw.Connection(str(database))
    connection.set_busy_timeout(10_000)
    connection.execute("begin immediate")
    try:
        yield
    finally:
        connection.execute("rollback")
        connection.close()


def impatient(workshop: Workshop) -> str:
    """A path on which every process of a worker waits for a lock for a second only, so that a test need not be long."""
    folder = workshop.folder / "impatient"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(
        "from holdfast.store.sqlite.store import SqliteStore\n"
        f"SqliteStore.__init__.__kwdefaults__['patience'] = {PATIENCE}\n"
    )
    return os.pathsep.join(map(str, (folder, ROOT / "src", ROOT)))


def test_a_locked_file_loses_nothing_and_is_told_once_by_each(workshop: Workshop):
    workshop.start(PYTHONPATH=impatient(workshop))
    ids = [
        workshop.enqueue("nap", {"seconds": 1}),
        workshop.enqueue("block", {"seconds": 1}),
        workshop.enqueue("alone", {"seconds": 1}),
        workshop.enqueue("nap", {"seconds": 12}),
    ]
    for job_id in ids:
        workshop.begun(job_id)
    with locked(workshop.database):
        for job_id in ids[:3]:
            wait_for(lambda job_id=job_id: workshop.lines("returned", id=job_id), "the handler to return")
        time.sleep(6)  # longer than the patience, several leases
    jobs = workshop.ended(*ids)
    assert {(job.status, job.attempts, job.crashed, job.failed) for job in jobs} == {(Status.COMPLETED, 1, 0, 0)}
    assert len(workshop.lines("began")) == 4
    said = workshop.errors()
    assert 1 <= said.count("the store is away") <= 3  # supervisor, child, the isolated one
    assert "the store is back" in said


def test_a_run_that_returned_in_time_does_not_time_out_while_it_waits_for_the_store(workshop: Workshop):
    workshop.start(PYTHONPATH=impatient(workshop))
    job_id = workshop.enqueue("nap", {"seconds": 0.5}, timeout=1, max_attempts=1)
    workshop.begun(job_id)
    with locked(workshop.database):
        wait_for(lambda: workshop.lines("returned", id=job_id), "the handler to return")
        time.sleep(8)  # its time-out and the grace are long over
    (job,) = workshop.ended(job_id)
    assert (job.status, job.failed) == (Status.COMPLETED, 0)


def test_two_workers_do_not_take_each_others_runs_after_the_store_was_away(workshop: Workshop):
    workshop.start(PYTHONPATH=impatient(workshop))
    workshop.start(PYTHONPATH=impatient(workshop))
    ids = workshop.enqueue_many("nap", 12, {"seconds": 8})
    for job_id in ids:
        workshop.begun(job_id)
    with locked(workshop.database):
        time.sleep(4)  # four leases
    jobs = workshop.ended(*ids)
    assert {(job.status, job.attempts, job.crashed) for job in jobs} == {(Status.COMPLETED, 1, 0)}


def test_a_worker_stops_well_while_the_store_is_away_and_the_next_one_ends_its_runs(workshop: Workshop):
    first = workshop.start("--stop-seconds", 0.5, PYTHONPATH=impatient(workshop), HOLDFAST_TEST_LEASE="60")
    job_id = workshop.enqueue("nap", {"seconds": 3600})
    workshop.begun(job_id)
    with locked(workshop.database):
        first.process.terminate()
        assert first.process.wait(20) == 0
        assert "the store is back" not in workshop.errors(), "it is not"
    assert workshop.job(job_id).status is Status.IN_PROGRESS
    workshop.start(HOLDFAST_TEST_LEASE="60")
    workshop.begun(job_id, 2)


@pytest.mark.parametrize(("signals", "seconds"), [(1, 15), (2, 3)])
def test_a_locked_file_does_not_hold_up_an_idle_worker_that_is_to_stop(
    workshop: Workshop, signals: int, seconds: float
):
    worker = workshop.start()
    with locked(workshop.database):
        workshop.app.signal.tell(News.of_everything())
        time.sleep(0.5)
        assert workshop.stop(worker, signals) < within(seconds)


def test_a_full_disk_is_survived(workshop: Workshop):
    """The log cannot grow: the worker's own limit on file sizes is reached, then lifted."""
    worker = workshop.start(PYTHONPATH=impatient(workshop))
    ids = workshop.enqueue_many("nap", 3, {"seconds": 1})
    for job_id in ids:
        workshop.begun(job_id)
    children = workshop.children(worker)
    for pid in (worker.pid, *children):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (16_384, resource.RLIM_INFINITY))
    wait_for(lambda: "the store is away" in workshop.errors(), "somebody to notice")
    for pid in (worker.pid, *children):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    jobs = workshop.ended(*ids)
    assert {job.status for job in jobs} == {Status.COMPLETED}
