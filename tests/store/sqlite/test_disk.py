"""A disk that is full, nearly full or read-only."""

from __future__ import annotations

import os
import signal

import pytest

from holdfast.model.errors import StoreError
from holdfast.model.request import NewJob
from tests.patience import wait_for
from tests.store.given import DONE, enqueue, finish, listed, running, status, write
from tests.worker.workshop import Workshop


def code_of(call):
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value.code


def check(store):
    return store.read(lambda tx: tx.execute("pragma integrity_check"))[0][0]


def test_on_a_full_disk_no_acknowledged_job_is_lost(small_disk, open_file):
    store = open_file(small_disk.folder / "jobs.db", space_floor=0)
    kept = [enqueue(store)]
    small_disk.fill(leave=256 * 1024)
    with pytest.raises(StoreError) as caught:  # noqa: PT012  # how many fit is the disk's affair
        while len(kept) < 1000:
            kept.append(enqueue(store, payload=f'"{"x" * 10_000}"'))
    assert caught.value.code == "STORE_FULL"
    assert sorted(listed(store, limit=10_000)) == sorted(kept)
    assert check(store) == "ok"
    small_disk.free()
    kept.append(enqueue(store))
    assert sorted(listed(store, limit=10_000)) == sorted(kept)
    assert check(store) == "ok"


def test_below_the_floor_new_jobs_are_refused_but_runs_can_finish(small_disk, open_file):
    store = open_file(small_disk.folder / "jobs.db", space_floor=1024 * 1024)
    run = running(store)
    small_disk.fill(leave=512 * 1024)
    assert code_of(lambda: enqueue(store)) == "STORE_FULL"
    assert finish(store, run, DONE)
    assert status(store, run.id) == "completed"
    small_disk.free()
    assert enqueue(store)


def test_a_refused_job_takes_no_other_call_with_it(small_disk, open_file):
    store = open_file(small_disk.folder / "jobs.db", space_floor=1024 * 1024)
    store.migrate()
    small_disk.fill(leave=512 * 1024)
    answers, _ = store.write([lambda tx: tx.insert([NewJob("a", "{}")]), lambda tx: tx.pause("q", "ann")])
    assert isinstance(answers[0], StoreError)
    assert answers[1] is True


def test_a_job_that_would_eat_into_the_floor_is_refused(small_disk, open_file):
    store = open_file(small_disk.folder / "jobs.db", space_floor=1024 * 1024)
    enqueue(store)
    small_disk.fill(leave=1024 * 1024 + 128 * 1024)
    assert code_of(lambda: write(store, lambda tx: tx.insert([NewJob("a", '"' + "x" * 200_000 + '"')]))) == "STORE_FULL"
    assert enqueue(store)


@pytest.mark.parametrize(("beyond", "payload"), [(1_000, "{}"), (1_000, f'"{"x" * 1_000}"'), (0, "{}")])
def test_a_disk_is_looked_at_for_every_job_unless_it_has_plenty_of_room(
    tmp_path, open_file, monkeypatch, beyond, payload
):
    looks = []

    class Disk:
        f_frsize = 1
        f_bavail = 1024**3 + beyond

    store = open_file(tmp_path / "jobs.db", space_floor=0)
    monkeypatch.setattr(os, "statvfs", lambda folder: looks.append(folder) or Disk)
    for _ in range(20):
        enqueue(store, payload=payload)
    assert (len(looks) == 20) is (len(payload) >= beyond)


def test_a_full_disk_cannot_take_a_new_database(small_disk, open_file):
    small_disk.fill()
    store = open_file(small_disk.folder / "jobs.db", space_floor=0)
    assert code_of(store.migrate) == "STORE_FULL"


def test_a_read_only_disk_is_told(small_disk, open_file):
    store = open_file(small_disk.folder / "jobs.db", space_floor=0)
    job_id = enqueue(store)
    store.close()
    small_disk.read_only()
    assert code_of(lambda: enqueue(store)) in ("STORE_READ_ONLY", "STORE_CANNOT_OPEN")
    assert code_of(lambda: write(open_file(small_disk.folder / "new.db"), lambda tx: tx.now)) == "STORE_CANNOT_OPEN"
    assert job_id


def test_a_file_that_may_only_be_read_is_told(small_disk, open_file):
    """A log that exists can be read, so the store opens; the write is what fails."""
    path = small_disk.folder / "jobs.db"
    store = open_file(path, space_floor=0)
    enqueue(store)
    store._writer.execute("pragma query_only=1")
    assert code_of(lambda: enqueue(store)) == "STORE_READ_ONLY"


def test_a_bulk_enqueue_that_does_not_fit_stores_none(small_disk, open_file):
    store = open_file(small_disk.folder / "jobs.db", space_floor=0)
    kept = enqueue(store)
    small_disk.fill(leave=256 * 1024)
    answers, news = store.write([lambda tx: tx.insert([NewJob("a", f'"{"x" * 50_000}"') for _ in range(100)])])
    assert answers[0].code == "STORE_FULL"
    assert not news
    assert listed(store) == [kept]
    assert check(store) == "ok"


@pytest.mark.slow
def test_a_worker_that_starts_on_a_full_disk_waits_for_space(small_disk, tmp_path):
    (tmp_path / "shop").mkdir()
    with Workshop(tmp_path / "shop", url=f"sqlite:///{small_disk.folder}/jobs.db?synchronous=normal") as workshop:
        workshop.app.close()
        small_disk.fill()
        worker = workshop.start(ready=False)
        wait_for(lambda: "no space is left on the disk" in workshop.errors(), "the message")
        assert worker.process.poll() is None
        small_disk.free()
        wait_for(lambda: workshop.children(worker), "it works")


@pytest.mark.slow
def test_and_can_be_stopped_while_it_waits(small_disk, tmp_path):
    (tmp_path / "shop").mkdir()
    with Workshop(tmp_path / "shop", url=f"sqlite:///{small_disk.folder}/jobs.db?synchronous=normal") as workshop:
        workshop.app.close()
        small_disk.fill()
        worker = workshop.start(ready=False)
        wait_for(lambda: "no space is left on the disk" in workshop.errors(), "the message")
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(10) == 0
