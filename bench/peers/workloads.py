"""Holdfast and the SQLite peers, turn by turn, with the targets that are set against them; and how a side is run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.peers import adapter, client
from bench.peers.environments import ROOT, Environment
from holdfast.cli.measures.rounds import AtLeast, Below, Sample, Target, Workload

OURS = "Holdfast"
PEERS = {
    OURS: "ours",
    "litequeue": "litequeue",
    "FlexiQ": "flexiq",
    "Huey": "huey",
    "persist-queue": "persist_queue",
    "honker": "honker",
}
BARE = "bare pair"  # of processes, without a queue: what this machine allows in this hour
LONGEST = 300  # seconds of one measurement
LONGEST_DRAIN = 1_800
CLEAN_UP = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many jobs a measurement has. Fast queues need more for the same time."""

    each: int = 1_000
    bulk: int = 50_000
    drain: int = 10_000
    drain_fast: int = 60_000
    pick_up: int = 200
    idle_seconds: float = 5
    kill_seconds: float = 45
    large: int = 1_000_000
    memory: int = 1_000_000


TINY = Sizes(
    each=20,
    bulk=200,
    drain=100,
    drain_fast=200,
    pick_up=20,
    idle_seconds=0.5,
    kill_seconds=3,
    large=2_000,
    memory=5_000,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where the sides run, and how much."""

    folder: Path
    sizes: Sizes
    environments: dict[str, Environment] = field(default_factory=dict)
    peers: dict[str, str] = field(default_factory=lambda: PEERS)
    fast: frozenset[str] = frozenset({OURS})
    database: Callable[[], AbstractContextManager[str]] = lambda: nullcontext("")  # a new one on a server, its URL

    def side(self, name: str, work: str) -> Callable[[], Sample]:
        """One measurement of one side."""
        sizes = self.sizes
        drained = sizes.drain_fast if name in self.fast else sizes.drain
        given = {"W1": sizes.each, "W2": sizes.bulk, "W4": sizes.pick_up, "memory": sizes.memory}
        peer = "bare_pair" if name == BARE else self.peers[name]
        return lambda: _measured(self, peer, work, given.get(work, drained))


def groups(setting: Setting, names: list[str], only: frozenset[str]) -> list[list[Workload]]:
    """All in one group: every peer once a round."""
    floor = [BARE] if OURS in names else []
    below = Below(OURS, "p50 ms", 1.5), Below(OURS, "p99 ms", 5), Below(OURS, "idle CPU %", 1)
    made = [
        workload("W1", "enqueue one at a time", names, setting),
        workload("W2", "enqueue in bulk", names, setting, AtLeast(OURS, "FlexiQ", 2)),
        _drains(names, setting),
        workload("W4", "an idle worker, then a job every 20 ms", [*names, *floor], setting, *below),
        _growth(names, setting),
        *kills(names, setting),
        memory(names, setting),
    ]
    return [[one for one in made if one.sides and (not only or one.name in only)]]


def workload(work: str, title: str, names: list[str], setting: Setting, *targets: Target) -> Workload:
    """Every side once."""
    sides = {name: setting.side(name, work) for name in names}
    return Workload(name=work, title=title, sides=sides, targets=targets if OURS in names else ())


def _drains(names: list[str], setting: Setting) -> Workload:
    one = {name: setting.side(name, "W3") for name in names}
    two = {f"{name} x2": setting.side(name, "W3x2") for name in names}
    targets = (
        AtLeast(OURS, "litequeue", 3),
        AtLeast(OURS, "honker", 2),
        AtLeast(OURS, "FlexiQ", 12),
        AtLeast(f"{OURS} x2", OURS, 1),
    )
    return Workload(
        name="W3",
        title="drain, 1 and 2 worker processes",
        sides=one | two,
        targets=targets if OURS in names else (),
    )


def _growth(names: list[str], setting: Setting) -> Workload:
    many, few = f", {setting.sizes.large:,} queued", ", 1,000 queued"
    grown = {f"{name}{many}": setting.side(name, "W5") for name in names}
    if OURS not in names:
        return Workload(name="W5", title="drain in a large queue", sides=grown)
    sides = {f"{OURS}{few}": setting.side(OURS, "W5small")} | grown
    target = AtLeast(f"{OURS}{many}", f"{OURS}{few}", 0.9)
    return Workload(name="W5", title="drain in a large queue", sides=sides, targets=(target,))


def kills(names: list[str], setting: Setting) -> list[Workload]:
    """Ours in every round; the peers once, for some take longer than anyone wants to wait twice."""
    whole = f"{OURS}, a whole worker"
    ours = {OURS: setting.side(OURS, "kill"), whole: setting.side(OURS, "kill whole")} if OURS in names else {}
    theirs = {name: setting.side(name, "kill") for name in names if name != OURS}
    targets = tuple(Below(side, "re-run after ms", 1_000) for side in ours)
    return [
        Workload(name="kill", title="kill -9 to the next run", sides=ours, targets=targets),
        Workload(name="kill peers", title="kill -9 to the next run", sides=theirs, rounds=1),
    ]


def memory(names: list[str], setting: Setting) -> Workload:
    """Ours alone: what a long drain makes of it."""
    sides = {OURS: setting.side(OURS, "memory")} if OURS in names else {}
    targets = Below(OURS, "peak MB", 150), Below(OURS, "grown MB", 10)
    title = f"a worker that drains {setting.sizes.memory:,} jobs"
    return Workload(name="memory", title=title, sides=sides, targets=targets, rounds=1)


def _measured(setting: Setting, peer: str, work: str, jobs: int) -> Sample:
    # The bare pair needs nothing but Python itself, the same as ours.
    environment = setting.environments[peer if peer in setting.environments else PEERS[OURS]]
    if environment.fault:
        return Sample(fault=environment.fault)
    folder = tempfile.TemporaryDirectory(dir=setting.folder, ignore_cleanup_errors=True)
    meeting = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # a short name, as sockets need one
    with folder as private, meeting as runtime, setting.database() as url:
        command = [environment.python, "-m", "bench.peers.client", peer, work, str(jobs), private]
        longest = LONGEST_DRAIN if work == "memory" else LONGEST
        try:
            out, errors = _said(command, _variables(setting.sizes, url) | {"XDG_RUNTIME_DIR": runtime}, longest)
        except subprocess.TimeoutExpired:
            return Sample(fault=f"not done within {longest} s")
    said = [line for line in out.splitlines() if line.startswith("RESULT ")]
    if not said:
        return Sample(fault=(errors.strip().splitlines() or ["said nothing"])[-1][:200])
    return Sample(**json.loads(said[-1].removeprefix("RESULT ")))


def _said(command: list[str], variables: dict[str, str], longest: float) -> tuple[str, str]:
    """What the client answers. If it may not go on it is interrupted, not killed: it has workers to end."""
    client = subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        return client.communicate(timeout=longest)
    except BaseException:
        client.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            client.communicate(timeout=CLEAN_UP)
        client.kill()
        client.communicate()
        raise


def _variables(sizes: Sizes, url: str) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
        client.LARGE: str(sizes.large),
        client.IDLE: str(sizes.idle_seconds),
        client.PATIENCE: str(sizes.kill_seconds),
        adapter.DATABASE: url,
    }
