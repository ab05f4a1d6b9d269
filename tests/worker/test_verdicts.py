"""How the runs of a dead child ended, by what its slot map shows."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from holdfast.model.outcome import Crashed, Raised, Stopped, Suspected, Unstarted
from holdfast.worker.look import Child
from holdfast.worker.slots import RETURNED, RUNNING, TAKEN, SlotMap
from holdfast.worker.verdicts import Verdicts
from tests.model.test_decide import run


@pytest.fixture
def ended(tmp_path: Path):
    """What became of runs in these phases, each with how often it was interrupted before."""

    def ended(*runs: tuple[int, int]) -> list[type]:
        slots = SlotMap(str(tmp_path / "slots"), len(runs))
        for number, (phase, _) in enumerate(runs):
            slots.enter(slots.take(str(number) * 26, 1, 0, 0), phase)
        child = Child(name="1-child", owner="w/1-child", slots=slots, pid=1)
        verdicts = Verdicts(child, signal.SIGABRT, 0)
        claims = [run()._replace(id=str(number) * 26, interrupted=before) for number, (_, before) in enumerate(runs)]
        return [type(verdicts.of(one)) for one in claims]

    return ended


def test_one_that_ran_alone_crashed(ended):
    assert ended((RUNNING, 0), (TAKEN, 0)) == [Crashed, Unstarted]


def test_several_that_ran_are_suspects(ended):
    assert ended((RUNNING, 0), (RUNNING, 0)) == [Suspected, Suspected]


def test_what_had_returned_beside_one_that_ran_is_interrupted_once_and_then_a_suspect(ended):
    assert ended((RUNNING, 0), (RETURNED, 0), (RETURNED, 1)) == [Suspected, Stopped, Suspected]


def test_what_had_returned_is_a_suspect_if_nothing_ran(ended):
    assert ended((RETURNED, 0), (RETURNED, 0)) == [Suspected, Suspected]


def test_one_that_had_returned_alone_crashed(ended):
    assert ended((RETURNED, 0)) == [Crashed]


def test_one_that_overran_is_told_how_long_it_was_allowed(tmp_path: Path):
    slots = SlotMap(str(tmp_path / "slots"), 1)
    slots.enter(slots.take("0" * 26, 1, 0, 1_500), RUNNING)
    child = Child(name="1-child", owner="w/1-child", slots=slots, pid=1, overdue={("0" * 26, 1): 1_500})
    outcome = Verdicts(child, signal.SIGKILL, 0).of(run()._replace(id="0" * 26, token=1))
    assert isinstance(outcome, Raised)
    assert outcome.failure.message == "ran longer than its time-out of 1.5 s: its process was killed"
