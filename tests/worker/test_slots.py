"""The slot map, between two processes that do not wait for each other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from holdfast.worker.slots import ASK, GO_ON, READY, RETURNED, RUNNING, STOP, TAKEN, WORN, SlotMap, read_slots
from tests.worker.workshop import size


def test_a_run_is_shown_from_its_beginning_until_its_ending_is_durable(tmp_path: Path):
    child, supervisor = SlotMap(str(tmp_path / "slots"), 4), SlotMap(str(tmp_path / "slots"), 4)
    slot = child.take("1" * 26, 7, 1_000, 500)
    (run,) = supervisor.started()
    assert (run.id, run.token, run.since, run.limit, run.phase) == ("1" * 26, 7, 1_000, 500, TAKEN)
    child.enter(slot, RUNNING)
    assert supervisor.started()[0].phase == RUNNING
    child.enter(slot, RETURNED)
    assert supervisor.started()[0].phase == RETURNED
    child.give(slot)
    assert supervisor.started() == []


def test_a_child_is_told_until_when_others_look_for_it(tmp_path: Path):
    child, supervisor = SlotMap(str(tmp_path / "slots"), 1), SlotMap(str(tmp_path / "slots"), 1)
    assert child.spared() == 0
    supervisor.spare(45_000)
    child.beat(7)
    assert (child.spared(), supervisor.beaten(), child.state()) == (45_000, 7, 0)


def test_an_order_reaches_the_run_it_was_meant_for(tmp_path: Path):
    child, supervisor = SlotMap(str(tmp_path / "slots"), 1), SlotMap(str(tmp_path / "slots"), 1)
    slot = child.take("1" * 26, 1, 0, 0)
    assert child.order(slot) == GO_ON
    supervisor.command(supervisor.started()[0], ASK)
    assert child.order(slot) == ASK
    supervisor.command(supervisor.started()[0], STOP)
    assert child.order(slot) == STOP


def test_an_order_that_comes_late_does_not_hit_the_next_run_in_the_slot(tmp_path: Path):
    child, supervisor = SlotMap(str(tmp_path / "slots"), 1), SlotMap(str(tmp_path / "slots"), 1)
    first = child.take("1" * 26, 1, 0, 0)
    (seen,) = supervisor.started()
    child.give(first)
    second = child.take("2" * 26, 1, 0, 0)
    supervisor.command(seen, STOP)
    assert first == second
    assert child.order(second) == GO_ON


def test_slots_run_out_and_come_back(tmp_path: Path):
    child = SlotMap(str(tmp_path / "slots"), 2)
    slots = [child.take("1" * 26, 1, 0, 0), child.take("2" * 26, 1, 0, 0)]
    assert child.free == 0
    child.give(slots[0])
    assert child.free == 1


def test_the_child_says_how_it_is_and_when_its_loop_last_went_round(tmp_path: Path):
    child, supervisor = SlotMap(str(tmp_path / "slots"), 1), SlotMap(str(tmp_path / "slots"), 1)
    assert supervisor.beaten() == 0
    child.say(READY)
    child.beat(123_456_789_012)
    assert (supervisor.state(), supervisor.beaten()) == (READY, 123_456_789_012)
    child.say(WORN)
    assert (supervisor.state(), supervisor.beaten()) == (WORN, 123_456_789_012)


def test_the_file_goes_when_the_map_is_removed(tmp_path: Path):
    child, supervisor = SlotMap(str(tmp_path / "slots"), 1), SlotMap(str(tmp_path / "slots"), 1)
    supervisor.remove()
    child.remove()
    assert list(tmp_path.iterdir()) == []


def test_the_file_of_a_dead_process_tells_what_had_begun(tmp_path: Path):
    path = str(tmp_path / "slots")
    child = SlotMap(path, 3)
    child.enter(child.take("1" * 26, 7, 0, 0), RUNNING)
    child.close()
    assert [(run.id, run.token, run.phase) for run in read_slots(path)] == [("1" * 26, 7, RUNNING)]


@pytest.mark.parametrize("length", [0, 1, 64, 100, 127])
def test_a_file_that_never_got_its_size_tells_nothing(tmp_path: Path, length: int):
    path = tmp_path / "slots"
    path.write_bytes(b"\0" * length)
    assert read_slots(str(path)) == []


@pytest.mark.parametrize("sequence", [0xFFFFFFFC, 0xFFFFFFFE, 0x3FFFFFFE])
def test_the_sequence_of_a_slot_may_overflow(tmp_path: Path, sequence: int):
    child, supervisor = SlotMap(str(tmp_path / "slots"), 1), SlotMap(str(tmp_path / "slots"), 1)
    child._memory[64:68] = sequence.to_bytes(4, "little")
    for token in range(4):
        slot = child.take("1" * 26, token, 0, 0)
        (run,) = supervisor.started()
        assert run.token == token
        supervisor.command(run, STOP)
        assert child.order(slot) == STOP
        child.give(slot)


def write_for_ever(path: str) -> None:
    """Runs come and go in one slot; the id, the token, the start and the limit of each belong together."""
    slots = SlotMap(path, 1)
    number = 0
    while True:
        number += 1
        slot = slots.take(f"{number:026d}", number, number * 3, number * 5)
        # An order is always for this very run: it carries no other meaning than the number of the run.
        if slots.order(slot) != GO_ON:
            os._exit(3)
        slots.give(slot)


def test_nothing_torn_is_read_and_no_late_order_is_heeded_while_the_child_writes(tmp_path: Path):
    path = str(tmp_path / "slots")
    supervisor = SlotMap(path, 1)
    child = multiprocessing.get_context("fork").Process(target=write_for_ever, args=(path,))
    child.start()
    seen = torn = 0
    late = None
    try:
        until = time.monotonic() + size("HOLDFAST_SLOT_SECONDS", 2)
        while time.monotonic() < until:
            if late is not None:
                supervisor.command(late, STOP)  # by now it is long over
            for run in supervisor.started():
                seen += 1
                number = int(run.id)
                torn += (run.token, run.since, run.limit) != (number, number * 3, number * 5)
                late = None if late is not None and late.token >= number else run
            if late is not None and any(run.token == late.token for run in supervisor.started()):
                late = None  # still running: the order would be right
        assert child.is_alive(), "an order meant for another run was heeded"
    finally:
        os.kill(child.pid or 0, signal.SIGKILL)
        child.join()
        child.close()
    assert seen > 1_000
    assert torn == 0
