"""The same workers on PostgreSQL: the store is another, the promises are the same."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from holdfast.model.status import Status
from tests.patience import wait_for, within
from tests.servers.postgres import server
from tests.signals.networks import processor_seconds
from tests.worker.workshop import Workshop

pytestmark = pytest.mark.slow


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # where the workers of a host meet
    url = server().migrated()
    try:
        with Workshop(tmp_path, url=url) as made:
            yield made
    finally:
        server().drop(url)


def test_two_workers_share_the_jobs_and_run_each_once(workshop: Workshop):
    workshop.start("--processes", 2)
    workshop.start()
    ids = [*workshop.enqueue_many("quick", 200), *workshop.enqueue_many("nap", 20, {"seconds": 0.1})]
    assert {(job.status, job.attempts) for job in workshop.ended(*ids)} == {(Status.COMPLETED, 1)}
    assert sorted(line.id for line in workshop.lines("began")) == sorted(ids)


def test_a_killed_child_is_replaced_and_its_run_begins_again_within_a_second(workshop: Workshop):
    workshop.start("--processes", 2)
    job_id = workshop.enqueue("nap", {"seconds": 1})
    first = workshop.begun(job_id)
    killed = time.time()
    os.kill(first.pid, signal.SIGKILL)
    assert workshop.begun(job_id, 2).at - killed < 1.5
    (job,) = workshop.ended(job_id)
    assert (job.status, job.attempts, job.crashed) == (Status.COMPLETED, 2, 1)


def test_a_killed_worker_is_recovered_by_another_of_its_host(workshop: Workshop):
    first, _ = workshop.start(), workshop.start(HOLDFAST_TEST_LEASE="60")
    job_id = workshop.enqueue("nap", {"seconds": 2})
    pid = workshop.begun(job_id).pid
    holder = first if pid in workshop.children(first) else workshop.workers[1]
    holder.process.kill()
    (job,) = workshop.ended(job_id)
    assert (job.status, job.crashed) == (Status.COMPLETED, 1)


@pytest.mark.parametrize("type", ["hold_interpreter", "hold_loop"])
def test_a_handler_that_holds_the_interpreter_keeps_its_lease(workshop: Workshop, type: str):
    workshop.start()
    workshop.start()
    job_id = workshop.enqueue(type, {"seconds": 3.5})
    (job,) = workshop.ended(job_id)
    assert (job.status, job.attempts, job.result) == (Status.COMPLETED, 1, "held")


@pytest.mark.parametrize("type", ["nap", "block", "alone"])
def test_an_immediate_cancel_stops_the_handler(workshop: Workshop, type: str):
    worker = workshop.start(HOLDFAST_TEST_LEASE="60")
    job_id = workshop.enqueue(type, {"seconds": 3600})
    pid = workshop.begun(job_id).pid
    assert workshop.app.cancel(job_id)["status"] == "cancelled"
    wait_for(
        lambda: workshop.lines("stopped", "asked", id=job_id) or pid not in workshop.children(worker),
        "the stop",
    )
    assert workshop.job(job_id).status is Status.CANCELLED


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_burns_no_attempt(workshop: Workshop, number: int):
    worker = workshop.start("--stop-seconds", 0.5)
    job_id = workshop.enqueue("nap", {"seconds": 3600})
    workshop.begun(job_id)
    os.kill(worker.process.pid, number)
    assert worker.process.wait(10) == 0
    job = workshop.job(job_id)
    assert (job.status, job.attempts, job.interrupted) == (Status.QUEUED, 0, 1)


@pytest.mark.parametrize(("signals", "seconds"), [(1, 6), (2, 3)])
def test_a_locked_table_does_not_hold_up_a_stop(workshop: Workshop, signals: int, seconds: float):
    """With a run under way whose end cannot be written, and whose lease cannot be renewed."""
    worker = workshop.start("--stop-seconds", 1 if signals == 1 else 60)
    job_id = workshop.enqueue("nap", {"seconds": 1})
    workshop.begun(job_id)
    with psycopg.connect(workshop.url) as other:
        other.execute("lock table job_queue in access exclusive mode")
        time.sleep(2)
        assert workshop.stop(worker, signals) < within(seconds)
        other.rollback()


def test_a_poison_is_put_aside_and_its_neighbours_lose_nothing(workshop: Workshop):
    workshop.start()
    poison = workshop.enqueue("poison", {"kind": "vanish"})
    others = workshop.enqueue_many("nap", 10, {"seconds": 0.3})
    job, *rest = workshop.ended(poison, *others)
    assert (job.status, job.crashed) == (Status.DEAD_LETTER, 3)
    assert {(one.status, one.attempts, one.crashed) for one in rest} == {(Status.COMPLETED, 1, 0)}


def test_a_server_that_is_away_for_a_while_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from tests.servers.postgres import OwnServer

    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    own = OwnServer(("max_connections=50",))  # durable, as it comes
    with Workshop(tmp_path, url=own.migrated()) as workshop:
        workshop.start()
        long = workshop.enqueue("nap", {"seconds": 5})
        workshop.begun(long)
        own.stop("immediate")
        time.sleep(1)
        idle = processor_seconds(workshop.workers[0].process.pid)
        time.sleep(2)
        idle = processor_seconds(workshop.workers[0].process.pid) - idle
        own.start()
        assert idle < 0.5, "the supervisor rests while there is nothing that it could do"
        (job,) = workshop.ended(long)
        assert job.status is Status.COMPLETED
        (job,) = workshop.ended(workshop.enqueue("quick"))
        assert job.status is Status.COMPLETED
        assert workshop.errors().count("the store is away") <= 2  # once by the child, once by its supervisor
        for worker in workshop.workers:
            worker.process.terminate()
            worker.process.wait(20)
