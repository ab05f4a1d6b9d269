"""Jobs that kill or paralyse their process, among innocent neighbours: they end, and nobody else pays for it.

Full size, with the strict bound on throughput: HOLDFAST_POISON_ROUNDS=3 pytest -s tests/worker/test_poison.py
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import pytest

from holdfast.model.status import Status
from tests.worker.poisons import KINDS
from tests.worker.workshop import Workshop, size, tell

pytestmark = pytest.mark.slow

ENDLESS = {"endless call", "endless loop"}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_poison_ends_and_its_neighbours_lose_no_attempt(workshop: Workshop, kind: str):
    workshop.start("--processes", 2)
    before = workshop.enqueue_many("innocent", 10, {"seconds": 0.2})
    before += workshop.enqueue_many("innocent_thread", 5, {"seconds": 0.2})
    poison = workshop.enqueue("poison", {"kind": kind}, max_attempts=3, priority=1)
    after = workshop.enqueue_many("innocent", 30, {"seconds": 0.05})
    (dead,) = workshop.ended(poison, seconds=90)
    neighbours = workshop.ended(*before, *after, seconds=60)

    assert dead.status is Status.DEAD_LETTER
    assert dead.error is not None
    assert dead.error["code"] == ("TIMEOUT" if kind in ENDLESS else "WORKER_DIED")
    assert dead.attempts <= 3
    assert {(one.status, one.attempts, one.failed, one.crashed) for one in neighbours} == {
        (Status.COMPLETED, 1, 0, 0)
    }  # fmt: skip


def test_the_evidence_names_the_signal_the_memory_and_the_worker(workshop: Workshop):
    workshop.start()
    (dead,) = workshop.ended(workshop.enqueue("poison", {"kind": "abort"}))
    assert dead.error is not None
    assert "SIGABRT" in dead.error["message"]
    assert "peak memory" in dead.error["message"]
    assert "-solo" in dead.error["message"]
    assert (dead.crashed, dead.failed) == (3, 0)


def test_neighbours_keep_their_throughput_among_poisons(tmp_path: Path):
    rounds = size("HOLDFAST_POISON_ROUNDS", 1)
    strict = "HOLDFAST_POISON_ROUNDS" in os.environ
    shares = []
    for round_ in range(rounds):
        clean = throughput(tmp_path / f"clean-{round_}", poisons=[])
        poisoned = throughput(tmp_path / f"poisoned-{round_}", poisons=sorted(KINDS))
        shares.append(poisoned / clean)
        tell("jobs a second without and with poison", (round(clean, 1), round(poisoned, 1)))
    tell("share of the throughput kept", shares)
    # One short round on a busy machine is noisy: the bound of 80 % holds for the median at full size.
    assert statistics.median(shares) >= (0.8 if strict else 0.5)


def throughput(folder: Path, *, poisons: list[str]) -> float:
    """Innocent jobs a second while poisons run, on a worker of two processes."""
    folder.mkdir()
    with Workshop(folder) as workshop:
        workshop.start("--processes", 2, "--threads", 20)
        workshop.ended(*workshop.enqueue_many("innocent", 20, {"seconds": 0.01}))
        begun = time.monotonic()
        for kind in poisons:
            workshop.enqueue("poison", {"kind": kind}, max_attempts=3, priority=1)
        innocents = workshop.enqueue_many("innocent", 3_000, {"seconds": 0.5})
        workshop.settled_of("innocent", seconds=120)
        took = time.monotonic() - begun
        assert workshop.count("type = 'innocent' and (failed or crashed or attempts <> 1)") == 0
        return len(innocents) / took
