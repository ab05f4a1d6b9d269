"""An event loop that stands still is told of while it does, by who looks on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine import leases
from holdfast.model.lease import Claim
from holdfast.model.status import Status
from holdfast.store.port import Order
from holdfast.worker.slots import RETURNED, RUNNING, TAKEN, SlotMap
from holdfast.worker.standstill import LONG, SELDOM, Standstill
from tests.patience import wait_for
from tests.worker.workshop import Workshop

OWNER = "host:1:a/1-child"
BEAT = 10.0  # seconds: when the loop last went round
LATE = BEAT + LONG + 0.6


class Process:
    """One that runs jobs, as its slot map shows it."""

    def __init__(self, folder: Path) -> None:
        self.app = holdfast.App(f"sqlite:///{folder}/jobs.db?synchronous=normal")
        self.app.job(coroutine)
        self.app.job(another)
        self.app.job(plain)
        self.slots = SlotMap(str(folder / "slots"), 10)
        self.slots.beat(int(BEAT * 1000))
        self.standstill = Standstill(OWNER, self.slots)

    def runs(self, kind: str, phase: int = RUNNING, since: float = 1.0) -> Claim:
        self.app.enqueue(kind)
        order = Order(OWNER, self.app.registry.lanes(), 1, 60_000)
        (claim,) = self.app.desk.write(leases.claim, order)
        self.slots.enter(self.slots.take(claim.id, claim.token, int(since * 1000), 0), phase)
        return claim

    def look(self, now: float = LATE) -> None:
        self.standstill.look(self.slots.started(), now, self.app.desk, {"coroutine", "another"})


async def coroutine() -> None: ...
async def another() -> None: ...
def plain() -> None: ...


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    one = Process(tmp_path)
    yield one
    one.app.close()
    one.slots.close()


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture):
    return lambda: [line.getMessage() for line in caplog.records]


def test_the_coroutine_that_runs_is_named_with_what_to_do(process: Process, told):
    claim = process.runs("coroutine")
    process.runs("plain")
    process.runs("another", TAKEN)
    process.runs("another", RETURNED)
    process.look()
    (line,) = told()
    assert line == (
        "the event loop of 1-child stands still for 2.1 s now, and no other job of its process goes on: does job "
        f"{claim.id} (coroutine) block it? make the handler a plain function, which gets a thread, or give it "
        'isolation="process", or await what it waits for'
    )


def test_it_is_told_once_for_each_standstill(process: Process, told):
    process.runs("coroutine")
    for late in (0, 1, 100):
        process.look(LATE + late)
    assert len(told()) == 1
    assert process.slots.told() == int(BEAT * 1000)  # so that the process itself is quiet about it
    process.slots.beat(int((BEAT + SELDOM + 1) * 1000))
    process.look(LATE + SELDOM + 1)
    assert len(told()) == 2


def test_the_same_types_are_told_of_once_a_minute(process: Process, told):
    process.runs("coroutine")
    process.look()
    process.slots.beat(int((BEAT + 5) * 1000))
    process.look(LATE + 5)
    assert len(told()) == 1
    assert process.slots.told() == int((BEAT + 5) * 1000)
    process.runs("another")
    process.slots.beat(int((BEAT + 9) * 1000))
    process.look(LATE + 9)
    assert len(told()) == 2


def test_of_several_the_newest_are_named_first(process: Process, told):
    claims = [process.runs("coroutine", since=since) for since in (1.0, 4.0, 2.0, 3.0, 5.0)]
    process.look()
    ids = [claims[number].id for number in (4, 1, 3)]
    named = ", ".join(f"{one} (coroutine)" for one in ids)
    assert f"does job {named} or one of 2 more block it?" in told()[0]


def test_where_only_plain_functions_run_one_may_keep_the_interpreter(process: Process, told):
    first, second = process.runs("plain", since=2.0), process.runs("plain")
    process.look()
    assert f"does job {first.id} (plain) or {second.id} (plain) hold it up? a call into C that keeps" in told()[0]
    assert told()[0].endswith('needs isolation="process"')


def test_a_loop_that_goes_round_or_runs_nothing_is_fine(process: Process, told):
    process.look()
    process.runs("coroutine", TAKEN)
    process.runs("coroutine", RETURNED)
    process.look()
    process.runs("coroutine")
    process.look(BEAT + LONG)
    assert told() == []


def test_the_very_first_run_may_block_before_the_loop_has_gone_round(process: Process, told):
    process.slots.beat(0)
    process.runs("coroutine", since=1.0)
    process.look(1.0 + LONG)
    assert told() == []
    for now in (1.1 + LONG, 2.0 + LONG):
        process.look(now)
    assert len(told()) == 1


def test_runs_that_lost_their_leases_are_nobody_s_fault(process: Process, told):
    process.slots.enter(process.slots.take("0" * 26, 1, 0, 0), RUNNING)
    process.look()
    assert (told(), process.slots.told()) == ([], 0)


@pytest.mark.slow
def test_a_worker_tells_of_a_loop_that_stands_still_while_it_does(workshop: Workshop):
    workshop.start(HOLDFAST_TEST_LEASE="60")
    blocker = workshop.enqueue("hold_loop", {"seconds": 12})
    workshop.begun(blocker)
    behind = workshop.enqueue("quick")
    said = wait_for(lambda: [line for line in workshop.errors().splitlines() if "stands still" in line], "a warning")
    assert workshop.job(blocker).status == Status.IN_PROGRESS
    assert f"does job {blocker} (hold_loop) block it?" in said[0]
    held_up = wait_for(
        lambda: [one["text"] for one in workshop.app.explain(behind)["reasons"] if one["code"] == "HELD_UP"], "a reason"
    )
    assert workshop.job(blocker).status == Status.IN_PROGRESS
    assert f"the longest {blocker} (hold_loop) for " in held_up[0]
    workshop.ended(blocker, behind)
    assert [workshop.errors().count(word) for word in ("stands still", "stood still")] == [1, 0]
