"""One look for a whole worker: children rest until it finds something, or is late."""

from __future__ import annotations

import asyncio
import os
import time
from types import SimpleNamespace

import pytest

import holdfast
from holdfast.model.news import News
from holdfast.worker import worker as worker_module
from holdfast.worker.alone import POLL, Solos
from holdfast.worker.application import Described, describe
from holdfast.worker.child import pools_of
from holdfast.worker.look import Child
from holdfast.worker.lookout import Lookout
from holdfast.worker.slots import SlotMap
from holdfast.worker.worker import Worker
from tests.patience import wait_for_async

CONFIG = {"coroutines": 10, "threads": 2, "prefetch": 0}


class ProvenEar:
    """Hears nothing, and would hear everything: what a network's ear is while nobody tells."""

    def __init__(self, patience=30.0, *, proven=True):
        self.patience, self.proven = patience, proven
        self._read, self._write = os.pipe()

    def fileno(self):
        return self._read

    def receive(self):
        return News()

    def close(self):
        os.close(self._read)
        os.close(self._write)


@pytest.fixture
def app(tmp_path):
    with holdfast.App(f"sqlite:///{tmp_path}/jobs.db?synchronous=normal", signal="off") as one:

        @one.job
        async def tick() -> float:
            return time.monotonic()

        @one.job(isolation="process")
        def alone() -> None:
            """Runs in a process of its own."""

        yield one


@pytest.fixture
def crew(app, tmp_path):
    """What the look needs of a supervisor, with one child."""
    child = Child(name="1-child", owner="o/1-child", slots=SlotMap(str(tmp_path / "slots"), 20))
    one = SimpleNamespace(
        ear=ProvenEar(), app=Described(describe(app), None), solos=Solos(app.desk, 4), children={"1-child": child}
    )
    yield one
    one.ear.close()


def look(app, lookout):
    before = time.monotonic()
    app.desk.write(lookout.look)
    return before


def spared(crew):
    """Seconds until the child looks by itself."""
    return crew.children["1-child"].slots.spared() / 1000 - time.monotonic()


def test_where_nothing_waits_the_child_is_spared_until_the_look_is_late(app, crew):
    look(app, Lookout(crew))
    assert 44 < spared(crew) <= 45
    assert not crew.solos.worth_a_look(crew.ear)


def test_a_job_that_comes_due_ends_the_rest_in_time(app, crew):
    app.enqueue("tick", delay=5)
    look(app, Lookout(crew))
    assert 4 < spared(crew) <= 5
    assert not crew.solos.worth_a_look(crew.ear)


def test_a_job_that_is_due_ends_it_at_once(app, crew):
    app.enqueue("tick")
    look(app, Lookout(crew))
    assert spared(crew) <= 0


@pytest.mark.parametrize(("delay", "worth"), [(0, True), (5, False)])
def test_a_job_for_a_process_of_its_own_is_the_supervisors_to_look_for(app, crew, delay, worth):
    app.enqueue("alone", delay=delay)
    look(app, Lookout(crew))
    assert crew.solos.worth_a_look(crew.ear) == worth
    assert spared(crew) > 44


@pytest.mark.parametrize(
    "ear", [None, ProvenEar(proven=False), ProvenEar(patience=1.0)], ids=["none", "unproven", "impatient"]
)
def test_who_polls_is_not_spared(app, crew, ear):
    crew.ear, own = ear, crew.ear
    look(app, Lookout(crew))
    crew.ear = own
    assert crew.children["1-child"].slots.spared() == 0


def test_rounds_that_come_often_look_no_oftener(app, crew):
    lookout = Lookout(crew)
    look(app, lookout)
    app.enqueue("tick")
    look(app, lookout)
    assert spared(crew) > 40


def test_a_supervisor_that_is_spared_and_no_longer_hears_polls(app, crew):
    crew.solos.take(crew.app, "o/2-solo", 0)
    look(app, Lookout(crew))
    assert not crew.solos.worth_a_look(crew.ear)
    crew.solos._looked -= POLL
    crew.ear.proven = False
    assert crew.solos.worth_a_look(crew.ear)


@pytest.fixture
async def resting(app, tmp_path):
    """A worker that has found nothing, and rests because its ear is proven; with its slots."""
    slots = SlotMap(str(tmp_path / "child.slots"), 40)
    worker = Worker(app.desk, app.registry, pools_of(app.registry, CONFIG), owner="o/1-child", slots=slots)
    worker.ear = ProvenEar()
    slots.spare(int(time.monotonic() * 1000) + 3_600_000)
    task = asyncio.create_task(worker.work())
    await wait_for_async(slots.beaten)
    yield worker, slots
    worker.drain(5)
    await task
    worker.ear.close()
    slots.remove()


async def test_a_child_rests_while_it_is_spared_and_begins_when_it_is_told(app, resting):
    _, slots = resting
    handle = app.enqueue("tick")
    await asyncio.sleep(0.5)
    assert handle.status() == "queued"
    told = time.monotonic() + 0.4
    slots.spare(int(told * 1000))
    assert 0 <= await handle.aresult(timeout=10) - told < 0.5


async def test_a_child_whose_supervisor_looks_no_more_looks_by_itself(app, resting):
    worker, slots = resting
    slots.spare(int(time.monotonic() * 1000))
    looked = worker._looked
    await wait_for_async(lambda: worker._looked > looked)
    worker.ear.patience = 0.3
    handle = app.enqueue("tick")
    assert await handle.aresult(timeout=5)


async def test_a_child_that_no_longer_hears_polls_although_it_is_spared(app, resting):
    worker, _ = resting
    worker.ear.proven = False
    worker.look()  # as an ear does that is no longer proven
    await asyncio.sleep(0.1)
    handle = app.enqueue("tick")
    begun = time.monotonic()
    assert await handle.aresult(timeout=10) - begun < worker_module.POLL + 0.5
