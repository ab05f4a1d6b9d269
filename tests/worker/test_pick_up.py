"""How soon a worker takes a job that another process has enqueued, and what it costs when there is nothing to do.

Full size: HOLDFAST_PICK_UPS=300 HOLDFAST_IDLE_SECONDS=10 pytest -s tests/worker/test_pick_up.py
"""

from __future__ import annotations

import os
import random
import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.cli.storms.processes import marked
from holdfast.signals.folder import _Short, folder_of
from tests.patience import within
from tests.worker.workshop import Workshop, size, tell

pytestmark = pytest.mark.slow


def pick_ups(workshop: Workshop, count: int) -> list[float]:
    """Milliseconds from the enqueue's call to the handler's first line, sorted; each job finds the worker idle."""
    chance = random.Random(1)
    took = []
    workshop.ended(*workshop.enqueue_many("stamp", 20))
    for _ in range(count):
        time.sleep(chance.uniform(0.01, 0.05))
        begun = time.time()
        job_id = workshop.enqueue("stamp")
        (job,) = workshop.ended(job_id)
        took.append((job.result - begun) * 1000)
    return sorted(took)


def told(what: str, took: list[float]) -> None:
    figures = {name: round(took[int(len(took) * share)], 2) for name, share in (("p50", 0.5), ("p99", 0.99))}
    tell(what, figures | {"worst": round(took[-1], 2), "of": len(took), "unit": "ms"})


def test_an_idle_worker_hears_of_a_job_at_once(workshop: Workshop):
    workshop.start()
    took = pick_ups(workshop, size("HOLDFAST_PICK_UPS", 40))
    told("pick-up with signals", took)
    assert took[len(took) // 2] < within(20)
    assert took[int(len(took) * 0.9)] < 500


def test_without_signals_an_idle_worker_finds_a_job_by_polling(workshop: Workshop):
    workshop.start("--no-signals")
    took = pick_ups(workshop, max(5, size("HOLDFAST_PICK_UPS", 40) // 8))
    told("pick-up by polling", took)
    assert took[-1] <= within(1_100)


def test_a_job_due_later_is_taken_when_it_is_due(workshop: Workshop):
    workshop.start()
    workshop.ended(workshop.enqueue("stamp"))
    begun = time.time()
    (job,) = workshop.ended(workshop.enqueue("stamp", delay=0.5))
    assert 0.45 <= job.result - begun < 1.7


def seconds_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("options", [(), ("--no-signals",)], ids=["signals", "polling"])
def test_an_idle_worker_costs_next_to_nothing(workshop: Workshop, options: tuple[str, ...]):
    workshop.start(*options, HOLDFAST_TEST_LEASE="60")
    workshop.ended(workshop.enqueue("stamp"))
    tree = list(marked(workshop.mark))
    seconds = size("HOLDFAST_IDLE_SECONDS", 4)
    before = {pid: seconds_of(pid) for pid in tree}
    begun = time.monotonic()
    time.sleep(seconds)
    used = {pid: seconds_of(pid) - before[pid] for pid in tree}
    share = sum(used.values()) / (time.monotonic() - begun) * 100
    tell("CPU of an idle worker, percent of a core", {"tree": round(share, 2), "processes": len(tree)})
    assert share < (1.0 if "HOLDFAST_IDLE_SECONDS" in os.environ else 3.0)


def test_forged_signals_and_a_flood_change_nothing_but_the_load(workshop: Workshop):
    workshop.start()
    workshop.ended(workshop.enqueue("stamp"))
    folder = Path(folder_of(str(workshop.database)))
    sockets = [str(path) for path in folder.glob("*.socket")]
    assert len(sockets) == 2  # the supervisor's and the child's
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
        stranger.setblocking(False)
        until = time.monotonic() + 2
        ids = []
        while time.monotonic() < until:
            for path in sockets:
                for message in (b"default\n*", b"\xff" * 4096, b"", b"default\nJOB"):
                    with suppress(BlockingIOError), _Short(path) as short:
                        stranger.sendto(message, short)
            if len(ids) < 200:
                ids += workshop.enqueue_many("quick", 5)
    workshop.ended(*ids)
    assert workshop.count("attempts <> 1") == 0


def test_signals_that_are_all_lost_cost_only_time(workshop: Workshop):
    workshop.start()
    workshop.ended(workshop.enqueue("stamp"))
    for path in Path(folder_of(str(workshop.database))).glob("*.socket"):
        path.unlink()
    begun = time.time()
    (job,) = workshop.ended(workshop.enqueue("stamp"))
    assert job.result - begun < 2
