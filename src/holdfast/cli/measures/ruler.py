"""What a measurement reads from outside: when each job began, and what processes use.

Every handler that is measured adds a line to one record when it begins; queues are not asked, so none can flatter
itself. Nothing but the standard library.
"""

from __future__ import annotations

import os
import statistics
import struct
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

RECORD = "HOLDFAST_BENCH_RECORD"  # names the record's file to the processes that run jobs
_LINE = struct.Struct("<qqq")
_PROCESSES = Path("/proc")


class Run(NamedTuple):
    """A job began: when it had been enqueued, when its handler began, in which process."""

    enqueued: int
    began: int
    process: int


class Record:
    """All runs so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def count(self) -> int:
        """How many there are."""
        return self.path.stat().st_size // _LINE.size

    def runs(self) -> list[Run]:
        """All of them, in the order in which they were written."""
        return [Run(*line) for line in _LINE.iter_unpack(self.path.read_bytes())]


def payload(*, endless: bool = False) -> dict[str, Any]:
    """About 200 bytes of JSON with the time in it. The first run of an `endless` one is never to return."""
    now = time.time_ns()
    return {
        "t": -now if endless else now,
        "user_id": 123456,
        "action": "send_welcome_mail",
        "tags": ["a", "b", "c"],
        "body": "x" * 100,
    }


def note(enqueued: int) -> bool:
    """Record that a job begins; whether this run must never return. Appends are whole, over processes and threads."""
    endless = enqueued < 0 and all(run.enqueued != enqueued for run in Record(Path(os.environ[RECORD])).runs())
    os.write(_opened(os.environ[RECORD]), _LINE.pack(enqueued, time.time_ns(), os.getpid()))
    return endless


def wait(until: Callable[[], bool], seconds: float, every: float = 0.001) -> bool:
    """Whether it came true within the time."""
    limit = time.monotonic() + seconds
    while not (answer := until()) and time.monotonic() < limit:
        time.sleep(every)
    return answer


def percentiles(values: list[float]) -> dict[str, float]:
    """Where half, 95 and 99 of 100 of these milliseconds lie."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50 ms": cuts[49], "p95 ms": cuts[94], "p99 ms": cuts[98]}


def family(roots: Iterable[int]) -> list[int]:
    """These processes and all below them; none where the system does not show its processes."""
    known, found = set(roots), set()
    parents = _parents()
    for process in parents:
        above: int | None = process
        while above and above not in known:
            above = parents.get(above)
        if above:
            found.add(process)
    return sorted(found)


def alive(processes: Iterable[int]) -> list[int]:
    """Those that still run; the dead that nobody has asked for do not count."""
    found = []
    for process in processes:
        with suppress(OSError):
            if _statistics(_PROCESSES / str(process))[0] not in "ZX":
                found.append(process)
    return found


def processor_seconds(processes: Iterable[int]) -> float:
    """Processor time that these have used so far, in all their threads."""
    return sum(map(_used_by, processes))


def memory(processes: Iterable[int]) -> float:
    """Megabytes that these hold; what they share counts once."""
    total = 0
    for process in processes:
        with suppress(OSError):
            for line in (_PROCESSES / str(process) / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / 1024


@cache
def _opened(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)


def _parents() -> dict[int, int]:
    parents = {}
    if not (_PROCESSES / "self" / "stat").exists():
        return {}
    for entry in _PROCESSES.iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                parents[int(entry.name)] = int(_statistics(entry)[1])
    return parents


def _statistics(entry: Path) -> list[str]:
    """The fields behind the name, which may hold spaces."""
    return (entry / "stat").read_text().rpartition(")")[2].split()


def _used_by(process: int) -> float:
    """Two accounts are kept: one is cut to hundredths of a second, the other forgets threads that have ended."""
    entry = _PROCESSES / str(process)
    rough, fine = 0.0, 0.0
    with suppress(OSError):
        fields = _statistics(entry)
        rough = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        fine = sum(int((task / "schedstat").read_text().split()[0]) for task in (entry / "task").iterdir()) / 1e9
    return max(rough, fine)
