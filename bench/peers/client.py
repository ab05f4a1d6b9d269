"""One measurement of one peer, in its own environment: `python -m bench.peers.client NAME WORK JOBS FOLDER`.

Prints one line of JSON: a rate, figures, or what went wrong. Workers are processes of their own; the shared record of
runs tells when each began. Interpreter start is not counted: the clock runs from the first job of the last worker.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench.peers.adapter import RECORD, Adapter, load, payload

CHUNK = 10_000
START_LIMIT = 30.0  # seconds until the first job must have begun
DRAIN_LIMIT = 60.0  # seconds after which a partial rate is given
GAP = 0.02


def one_at_a_time(peer: Adapter, name: str, jobs: int) -> dict[str, Any]:
    """W1."""
    del name
    for _ in range(min(50, jobs)):
        peer.enqueue(payload())
    begin = time.perf_counter()
    for _ in range(jobs):
        peer.enqueue(payload())
    return {"rate": jobs / (time.perf_counter() - begin)}


def bulk(peer: Adapter, name: str, jobs: int) -> dict[str, Any]:
    """W2."""
    del name
    if not peer.bulk:
        return {"fault": "has no bulk call"}
    peer.enqueue_many([payload() for _ in range(100)])
    return {"rate": jobs / _fill(peer, jobs)}


def drain(peer: Adapter, name: str, jobs: int, workers: int = 1, grown: int = 0) -> dict[str, Any]:
    """W3, and W5 with a queue grown by so many rows."""
    if workers > 1 and not peer.several:
        return {"fault": "runs jobs twice with two processes"}
    if grown and not peer.table:
        return {"fault": "its table cannot be filled from outside"}
    _fill(peer, 1 if grown else jobs)
    if grown:
        peer.grow(jobs + grown)
    with _workers(peer, name, workers) as started:
        _wait(lambda: _count() > 0, START_LIMIT)
        used, seen = _cpu(started), _count()
        _wait(lambda: _count() >= jobs, DRAIN_LIMIT)
        used, seen = _cpu(started) - used, _count() - seen
        end = time.time_ns() if grown else _end(peer)
        return _rate(end) | {"CPU us/job": 1e6 * used / max(1, seen)}


def two_workers(peer: Adapter, name: str, jobs: int) -> dict[str, Any]:
    """W3 with two worker processes."""
    return drain(peer, name, jobs, workers=2)


def small(peer: Adapter, name: str, jobs: int) -> dict[str, Any]:
    """W5, as it is with few rows."""
    return drain(peer, name, jobs, grown=1_000)


def large(peer: Adapter, name: str, jobs: int) -> dict[str, Any]:
    """W5 with many."""
    return drain(peer, name, jobs, grown=int(os.environ.get("BENCH_LARGE", "1000000")))


def pick_up(peer: Adapter, name: str, jobs: int) -> dict[str, Any]:
    """W4: an idle worker, a job every 20 ms."""
    with _workers(peer, name, 1):
        peer.enqueue(payload())
        _wait(lambda: _count() > 0, START_LIMIT)
        time.sleep(1.5)
        before = _count()
        due = time.perf_counter()
        for _ in range(jobs):
            peer.enqueue(payload())
            due = max(due + GAP, time.perf_counter())
            time.sleep(max(0.0, due - time.perf_counter()))
        _wait(lambda: _count() >= before + jobs, 15)
        waits = [(began - enqueued) / 1e6 for enqueued, began, _ in _records()[before:]]
    cuts = statistics.quantiles(waits, n=100, method="inclusive")
    return {"p50 ms": cuts[49], "p95 ms": cuts[94], "p99 ms": cuts[98]}


WORKS: dict[str, Callable[[Adapter, str, int], dict[str, Any]]] = {
    "W1": one_at_a_time, "W2": bulk, "W3": drain, "W3x2": two_workers, "W4": pick_up, "W5small": small, "W5": large,
}  # fmt: skip


def main(name: str, work: str, jobs: int, folder: Path) -> None:
    """Measure, and say it."""
    os.environ["BENCH_RECORD"] = str(folder / "record")
    (folder / "record").touch()
    peer = load(name, folder)
    peer.open()
    print("RESULT " + json.dumps(WORKS[work](peer, name, jobs)), flush=True)


def _fill(peer: Adapter, jobs: int) -> float:
    begin = time.perf_counter()
    for start in range(0, jobs, CHUNK):
        peer.enqueue_many([payload() for _ in range(min(CHUNK, jobs - start))])
    return time.perf_counter() - begin


@contextmanager
def _workers(peer: Adapter, name: str, count: int) -> Iterator[list[int]]:
    """Worker processes, each in a session of its own so that its children end with it."""
    with (peer.folder / "worker.log").open("wb") as log:
        started = [
            subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            for command in peer.commands(name, count)
        ]
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.terminate()
        for process in started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(3)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _end(peer: Adapter) -> int:
    """When the last job was durably complete, for those that can tell; else when it began."""
    end = max(began for _, began, _ in _records())
    limit = time.monotonic() + 10
    while peer.remaining() and time.monotonic() < limit:
        end = time.time_ns()
    return end


def _rate(end: int) -> dict[str, Any]:
    firsts: dict[int, int] = {}
    for _, began, process in _records():
        firsts[process] = min(began, firsts.get(process, began))
    begin = max(firsts.values())
    counted = sum(begin <= began <= end for _, began, _ in _records())
    return {"rate": counted / ((end - begin) / 1e9), "processes": len(firsts)}


def _wait(until: Callable[[], bool], seconds: float) -> None:
    limit = time.monotonic() + seconds
    while not until() and time.monotonic() < limit:
        time.sleep(0.001)


def _records() -> list[tuple[int, int, int]]:
    return list(RECORD.iter_unpack(Path(os.environ["BENCH_RECORD"]).read_bytes()))


def _count() -> int:
    return Path(os.environ["BENCH_RECORD"]).stat().st_size // RECORD.size


def _cpu(roots: list[int]) -> float:
    """CPU seconds used so far by these processes and all below them."""
    parents, used = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                used[int(entry.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return sum(seconds for process, seconds in used.items() if _is_below(process, roots, parents))


def _is_below(process: int | None, roots: list[int], parents: dict[int, int]) -> bool:
    while process and process not in roots:
        process = parents.get(process)
    return bool(process)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
