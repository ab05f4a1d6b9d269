"""Batches in real workers: chunks, items of their own, kills in the middle, and one callback."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine import batches
from holdfast.model.status import Status
from tests.patience import wait_for
from tests.servers.postgres import server
from tests.worker import application
from tests.worker.workshop import Workshop, size, tell

pytestmark = pytest.mark.slow

ITEMS = size("HOLDFAST_TEST_ITEMS", 1_000)


@pytest.fixture(params=["sqlite", "postgres"])
def workshop(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # where the workers of a host meet
    url = server().migrated() if request.param == "postgres" else None
    try:
        with Workshop(tmp_path, url=url) as made:
            yield made
    finally:
        if url is not None:
            server().drop(url)


@pytest.fixture
def on_file(tmp_path: Path) -> Iterator[Workshop]:
    with Workshop(tmp_path) as made:
        yield made


def runs(workshop: Workshop) -> Counter[int]:
    """How often each item was run."""
    items = [line.event.split(" ")[1] for line in workshop.lines() if line.event.startswith("item ")]
    return Counter(map(int, items))


def stored(workshop: Workshop, batch: Any) -> set[int]:
    return {number for number, _, _ in batch.results()}


def called(workshop: Workshop, batch: Any) -> int:
    """How often the callback ran, once it has."""
    job_id = workshop.app.desk.read(batches.get, batch.id).callback_job
    workshop.ended(job_id)
    return len(workshop.lines(f"called {batch.id}"))


@pytest.mark.parametrize("handler", [application.mapped, application.mapped_in_thread])
def test_every_item_ends_once_although_some_fail_at_first(workshop, handler):
    workshop.start("--processes", 2, HOLDFAST_TEST_LEASE="30")  # an item whose lease was lost may run again
    items = ({"n": n, "fails": int(n % 100 == 7)} for n in range(ITEMS))
    batch = workshop.app.map(handler, items, callback=application.called_back)
    told = batch.wait(60)
    assert (told["done"], told["failed"], told["percent"]) == (ITEMS, 0, 100.0)
    assert [(number, value) for number, _, value in batch.results()] == [(n, n) for n in range(ITEMS)]
    assert runs(workshop) == {n: 2 if n % 100 == 7 else 1 for n in range(ITEMS)}
    assert called(workshop, batch) == 1
    tell("lines", len(workshop.lines()))


@pytest.mark.parametrize("victim", ["child", "worker"])
def test_after_a_kill_no_item_runs_again_whose_end_was_stored(workshop, victim):
    workers = [workshop.start("--queues", "default=1"), workshop.start("--queues", "default=1")]
    items = [{"n": n, "seconds": 0.05} for n in range(40)]
    batch = workshop.app.map(application.mapped, items, chunk=20, callback=application.called_back)
    wait_for(lambda: len(stored(workshop, batch)) >= 6, "some items")
    pid = workshop.lines()[-1].pid
    safe = stored(workshop, batch)
    if victim == "child":
        os.kill(pid, signal.SIGKILL)
    else:
        holder = next(one for one in workers if pid in workshop.children(one))
        holder.process.kill()
    assert batch.wait(30)["done"] == 40
    counts = runs(workshop)
    assert {n for n in safe if counts[n] != 1} == set()
    assert sum(counts.values()) <= 40 + 2 * 3  # what ran at that moment, and what it had not stored yet
    assert called(workshop, batch) == 1


def test_a_stop_hands_a_chunk_back_between_two_items(on_file):
    workshop = on_file
    first = workshop.start("--queues", "default=1")
    batch = workshop.app.map(application.mapped, [{"n": n, "seconds": 0.1} for n in range(20)])
    wait_for(lambda: runs(workshop)[3], "some items")
    first.process.terminate()
    assert first.process.wait(10) == 0
    assert len(stored(workshop, batch)) < 20
    workshop.start()
    assert batch.wait(30)["done"] == 20
    assert set(runs(workshop).values()) == {1}


def test_an_item_that_kills_its_process_takes_no_other_along(workshop):
    workshop.start()
    items = [{"n": n, "poison": n == 7} for n in range(20)]
    batch = workshop.app.map(application.mapped_poison, items, callback=application.called_back)
    told = batch.wait(60)
    assert (told["done"], told["failed"]) == (19, 1)
    ((number, _, error),) = batch.errors()
    assert (number, error["code"]) == (7, "WORKER_DIED")
    assert called(workshop, batch) == 1


@pytest.mark.parametrize("handler", [application.mapped_late, application.mapped_late_in_thread])
def test_a_time_out_is_for_each_item(on_file, handler):
    on_file.start()
    items = [{"n": n, "seconds": 30 if n == 3 else 0.1} for n in range(6)]
    batch = on_file.app.map(handler, items)
    told = batch.wait(30)
    assert (told["done"], told["failed"]) == (5, 1)
    ((number, _, error),) = batch.errors()
    assert (number, error["code"]) == (3, "TIMEOUT")
    assert runs(on_file) == {n: 2 if n == 3 else 1 for n in range(6)}


def test_a_cancelled_batch_stops_and_ends(workshop):
    workshop.start()
    batch = workshop.app.map(application.mapped, [{"n": n, "seconds": 0.05} for n in range(300)], chunk=100)
    wait_for(lambda: len(stored(workshop, batch)) > 3, "some items")
    assert batch.cancel() >= 3
    told = batch.wait(5)
    assert told["running"] == 0
    assert (told["cancelled"] > 200, told["failed"]) == (True, 0)
    wait_for(lambda: not workshop.count("status = 'in_progress'"), "nothing runs")
    ran = len(runs(workshop))
    assert told["done"] <= ran < 300


def test_the_progress_of_a_chunk_is_seen_while_it_runs(on_file):
    on_file.start()
    batch = on_file.app.map(application.mapped, [{"n": n, "seconds": 0.1} for n in range(10)])
    wait_for(lambda: 0 < batch.progress()["done"] < 10, "some progress")
    (chunk,) = on_file.app.jobs(type="mapped")
    assert chunk.progress["total"] == 10
    assert (chunk.batch, chunk.item) == (batch.id, None)
    batch.wait(30)


# -- handlers that take many jobs at a time


@pytest.mark.parametrize("type", ["embedded", "embedded_in_thread"])
def test_one_call_takes_many_jobs_and_one_place(workshop, type):
    with workshop.app.transaction():
        ids = [workshop.enqueue(type, {"n": n, "seconds": 0.05}) for n in range(1, 101)]
    workshop.start("--queues", "many=1", "--prefetch", "0")
    jobs = workshop.ended(*ids)
    failed = {job.payload["n"] for job in jobs if job.status is Status.FAILED}
    assert failed == ({n for n in range(1, 101) if n % 10 == 0} if type == "embedded" else set())
    assert {job.result for job in jobs} - {None} == set(range(1, 101)) - failed
    calls = [int(line.event.split(" ")[1]) for line in workshop.lines() if line.event.startswith("call ")]
    assert calls == [20] * 5
    assert {job.attempts for job in jobs} == {1}


def test_a_killed_call_makes_all_of_its_jobs_suspects(workshop):
    with workshop.app.transaction():
        ids = [workshop.enqueue("embedded", {"n": n, "seconds": 1}) for n in range(1, 6)]
    workshop.start("--queues", "many=1")
    os.kill(workshop.begun(ids[0]).pid, signal.SIGKILL)
    jobs = workshop.ended(*ids)
    assert {(job.status, job.attempts, job.crashed) for job in jobs} == {(Status.COMPLETED, 1, 0)}
    assert len({line.pid for line in workshop.lines("began")}) == 6  # each again in a process of its own


@pytest.mark.parametrize(("type", "seconds"), [("embedded", 1.5), ("embedded_in_thread", 6.5)])
def test_a_cancel_of_one_drops_only_its_own_outcome(on_file, type, seconds):
    """The second call lasts for longer than a run may that lost its lease and should stop."""
    with on_file.app.transaction():
        ids = [on_file.enqueue(type, {"n": n, "seconds": seconds}) for n in range(1, 4)]
    worker = on_file.start("--queues", "many=1")
    pid = on_file.begun(ids[0]).pid
    on_file.app.cancel(ids[1])
    first, second, third = on_file.ended(*ids)
    assert (first.status, second.status, third.status) == (Status.COMPLETED, Status.CANCELLED, Status.COMPLETED)
    assert on_file.children(worker) == [pid]  # a run that lost its lease and goes on is no reason to replace it


def test_a_call_that_is_late_is_late_for_all(on_file):
    ids = on_file.enqueue_many("embedded_late", 3, {"n": 1})
    on_file.start("--queues", "many=2")
    assert {(job.status, job.error["code"]) for job in on_file.ended(*ids)} == {(Status.DEAD_LETTER, "TIMEOUT")}


def test_a_stop_interrupts_a_call(on_file):
    ids = on_file.enqueue_many("embedded", 3, {"n": 1, "seconds": 60})
    worker = on_file.start("--queues", "many=2", "--stop-seconds", "0.2")
    on_file.begun(ids[0])
    worker.process.terminate()
    assert worker.process.wait(10) == 0
    assert {(job.status, job.attempts, job.interrupted) for job in map(on_file.job, ids)} == {(Status.QUEUED, 0, 1)}
