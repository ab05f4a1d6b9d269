"""Holdfast and the SQLite peers, turn by turn, with the targets that are set against them."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.peers.environments import NotInstalled, python_for
from bench.rounds import AtLeast, Below, Sample, Workload

OURS = "Holdfast"
PEERS = {
    OURS: "ours",
    "litequeue": "litequeue",
    "FlexiQ": "flexiq",
    "Huey": "huey",
    "persist-queue": "persist_queue",
    "honker": "honker",
}
ROOT = Path(__file__).parents[2]
LONGEST = 300  # seconds of one measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many jobs a measurement has. Fast queues need more for the same time."""

    each: int = 1_000
    bulk: int = 50_000
    drain: int = 10_000
    drain_ours: int = 60_000
    pick_up: int = 200
    large: int = 1_000_000


TINY = Sizes(each=20, bulk=200, drain=100, drain_ours=200, pick_up=20, large=2_000)


def groups(folder: Path, sizes: Sizes, only: frozenset[str], peers: frozenset[str]) -> list[list[Workload]]:
    """All in one group: every peer once a round."""
    names = [name for name in PEERS if not peers or name in peers]
    made = [
        _workload("W1", "enqueue one at a time", names, folder, sizes),
        _workload("W2", "enqueue in bulk", names, folder, sizes, AtLeast(OURS, "FlexiQ", 2)),
        _drains(names, folder, sizes),
        _workload(
            "W4",
            "pick-up by an idle worker",
            names,
            folder,
            sizes,
            Below(OURS, "p50 ms", 1.5),
            Below(OURS, "p99 ms", 5),
        ),
        _growth(names, folder, sizes),
    ]
    return [[workload for workload in made if not only or workload.name in only]]


def _workload(
    work: str, title: str, names: list[str], folder: Path, sizes: Sizes, *targets: AtLeast | Below
) -> Workload:
    sides = {name: _side(name, work, folder, sizes) for name in names}
    return Workload(name=work, title=title, sides=sides, targets=targets)


def _drains(names: list[str], folder: Path, sizes: Sizes) -> Workload:
    one = {name: _side(name, "W3", folder, sizes) for name in names}
    two = {f"{name} x2": _side(name, "W3x2", folder, sizes) for name in names}
    targets = (
        AtLeast(OURS, "litequeue", 3),
        AtLeast(OURS, "honker", 2),
        AtLeast(OURS, "FlexiQ", 12),
        AtLeast(f"{OURS} x2", OURS, 1),
    )
    return Workload(name="W3", title="drain, 1 and 2 worker processes", sides=one | two, targets=targets)


def _growth(names: list[str], folder: Path, sizes: Sizes) -> Workload:
    grown = {f"{name}, {sizes.large:,} queued": _side(name, "W5", folder, sizes) for name in names}
    few = {f"{OURS}, 1,000 queued": _side(OURS, "W5small", folder, sizes)}
    target = AtLeast(f"{OURS}, {sizes.large:,} queued", f"{OURS}, 1,000 queued", 0.9)
    return Workload(name="W5", title="drain in a large queue", sides=few | grown, targets=(target,))


def _side(name: str, work: str, folder: Path, sizes: Sizes) -> Callable[[], Sample]:
    drained = sizes.drain_ours if name == OURS else sizes.drain
    jobs = {"W1": sizes.each, "W2": sizes.bulk, "W4": sizes.pick_up}.get(work, drained)
    return lambda: _measured(PEERS[name], work, jobs, folder, sizes.large)


def _measured(peer: str, work: str, jobs: int, folder: Path, large: int) -> Sample:
    try:
        python = python_for(peer)
    except NotInstalled as error:
        return Sample(fault=str(error))
    with tempfile.TemporaryDirectory(dir=folder) as private:
        command = [python, "-m", "bench.peers.client", peer, work, str(jobs), private]
        environment = os.environ | {"BENCH_LARGE": str(large)}
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            return Sample(fault=f"not done within {LONGEST} s")
    said = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not said:
        return Sample(fault=(done.stderr.strip().splitlines() or ["said nothing"])[-1][:200])
    figures = json.loads(said[-1].removeprefix("RESULT "))
    rate, fault = figures.pop("rate", None), figures.pop("fault", "")
    return Sample(rate, figures, fault)
