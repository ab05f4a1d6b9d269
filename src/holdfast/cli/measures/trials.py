"""The measurements, on any queue that can be filled and has workers that are processes.

The record of runs tells when each job began. Interpreter start is not counted: a drain's clock runs from the first job
of the last process. Nothing but the standard library.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.cli.measures import ruler
from holdfast.cli.measures.rounds import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GAP = 0.02  # seconds between two jobs for an idle worker
_CHUNK = 10_000
_START_LIMIT = 30.0  # seconds until the first job must have begun
_DRAIN_LIMIT = 60.0  # seconds after which a partial rate is given
_LONG_LIMIT = 1_200.0
_SETTLE = 1.5  # seconds until a worker that has started is at rest
_STOP_LIMIT = 5.0
_LEAST_SAMPLES = 8


class Failed(Exception):
    """A measurement cannot be made; the message says why."""


class Queue(Protocol):
    """What a queue must be able to do to be measured. Its folder is private to one measurement."""

    folder: Path
    bulk: bool  # it has a bulk call of its own
    several: bool  # two worker processes may share it

    def enqueue(self, payload: dict[str, Any]) -> None:
        """One job, as durable as the queue makes it."""

    def enqueue_many(self, payloads: list[dict[str, Any]]) -> None:
        """Many at once."""

    def settle(self) -> None:
        """Do now what the database would soon do by itself after so great a change."""

    def commands(self, workers: int) -> list[list[str]]:
        """What to start for so many worker processes."""

    def remaining(self) -> int | None:
        """Jobs that are not durably complete; None if the queue cannot tell."""


def one_at_a_time(queue: Queue, jobs: int, seconds: float = _DRAIN_LIMIT) -> Sample:
    """W1: enqueue so many jobs one by one, or for so long."""
    for _ in range(min(50, jobs)):
        queue.enqueue(ruler.payload())
    done, begin = 0, time.perf_counter()
    took = 0.0
    while done < jobs and took < seconds:
        queue.enqueue(ruler.payload())
        done += 1
        took = time.perf_counter() - begin
    return Sample(done / took)


def bulk(queue: Queue, jobs: int) -> Sample:
    """W2: enqueue so many jobs by the bulk call."""
    if not queue.bulk:
        return Sample(fault="has no bulk call")
    queue.enqueue_many([ruler.payload() for _ in range(100)])
    return Sample(jobs / _fill(queue, jobs))


def drain(queue: Queue, jobs: int, *, workers: int = 1, grow: Callable[[], None] | None = None) -> Sample:
    """W3: run a filled queue empty; and W5: run as many jobs of one that `grow` has filled with more."""
    if workers > 1 and not queue.several:
        return Sample(fault="runs jobs twice with two processes")
    _fill(queue, jobs if grow is None else 1)
    if grow is not None:
        grow()
    queue.settle()
    with _workers(queue, queue.commands(workers)) as crew:
        roots, record = crew.roots, crew.at_work()
        used, seen = ruler.processor_seconds(ruler.family(roots)), record.count()
        ruler.wait(lambda: record.count() >= jobs, _DRAIN_LIMIT)
        used, seen = ruler.processor_seconds(ruler.family(roots)) - used, record.count() - seen
        end = time.time_ns() if grow is not None else _end_of(queue, record)
        rate, processes = _rate(record.runs(), end)
        return Sample(rate, {"processes": processes, "CPU us/job": 1e6 * used / max(1, seen)})


def pick_up(queue: Queue, jobs: int, *, idle: float) -> Sample:
    """W4: what an idle worker uses in so many seconds; then a job every 20 ms, and how soon each begins."""
    with _workers(queue, queue.commands(1)) as crew:
        queue.enqueue(ruler.payload())
        roots, record = crew.roots, crew.at_work()
        time.sleep(_SETTLE)
        used = _idle_share(roots, idle)
        before = record.count()
        due = time.perf_counter()
        for _ in range(jobs):
            queue.enqueue(ruler.payload())
            due = max(due + GAP, time.perf_counter())
            time.sleep(max(0.0, due - time.perf_counter()))
        if not ruler.wait(lambda: record.count() >= before + jobs, 15):
            raise Failed(f"{before + jobs - record.count()} of {jobs} jobs had not begun after 15 s")
        waits = [(run.began - run.enqueued) / 1e6 for run in record.runs()[before:]]
    return Sample(figures=ruler.percentiles(waits) | used)


def recovery(queue: Queue, *, whole: bool, limit: float) -> Sample:
    """From kill -9 of the process that runs a job, or of its `whole` worker, to the next run of the job.

    A second worker stands by, as with any service that must not stop.
    """
    if not queue.several:
        return Sample(fault="runs jobs twice with two processes")
    with _workers(queue, queue.commands(1) + queue.commands(1)) as crew:
        queue.enqueue(ruler.payload(endless=True))
        roots, record = crew.roots, crew.at_work()
        time.sleep(_SETTLE)
        victim = record.runs()[-1].process
        (root,) = [one for one in roots if victim in ruler.family([one])]
        before, killed = record.count(), time.time_ns()
        for process in [root, *ruler.family([root])] if whole else [victim]:
            _kill(process)
        if not ruler.wait(lambda: record.count() > before, limit):
            return Sample(fault=f"not run again within {limit:g} s")
        return Sample(figures={"re-run after ms": (record.runs()[before].began - killed) / 1e6})


def memory(queue: Queue, jobs: int) -> Sample:
    """What a worker holds while it drains so many jobs, and how much more in the last quarter than in the second."""
    _fill(queue, jobs)
    queue.settle()
    seen: list[float] = []
    with _workers(queue, queue.commands(1)) as crew:
        roots, record = crew.roots, crew.at_work()

        def look() -> bool:
            seen.append(ruler.memory(ruler.family(roots)))
            return record.count() >= jobs

        ruler.wait(look, _LONG_LIMIT, every=0.25)
        rate, _ = _rate(record.runs(), time.time_ns())
    quarter = len(seen) // 4
    grown = statistics.median(seen[-quarter:]) - statistics.median(seen[quarter : 2 * quarter]) if quarter else 0.0
    figures = {"jobs": float(jobs), "peak MB": max(seen)}
    return Sample(rate, figures | ({"grown MB": grown} if len(seen) >= _LEAST_SAMPLES else {}))


def _fill(queue: Queue, jobs: int) -> float:
    begin = time.perf_counter()
    for start in range(0, jobs, _CHUNK):
        queue.enqueue_many([ruler.payload() for _ in range(min(_CHUNK, jobs - start))])
    return time.perf_counter() - begin


@contextmanager
def _workers(queue: Queue, commands: list[list[str]]) -> Iterator[_Crew]:
    """Worker processes; nothing of them is left, whatever happens. They are asked to stop only if all went well."""
    crew = _Crew(queue.folder)
    patience = 0.0
    try:
        for command in commands:
            crew.start(command)
        yield crew
        patience = _STOP_LIMIT
    finally:
        # A second Ctrl-C waits until the first one has cleaned up.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        crew.end(patience)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


class _Crew:
    """Workers and their record, in a private folder."""

    def __init__(self, folder: Path) -> None:
        self.record = ruler.Record(folder / "record")
        self._log = folder / "worker.log"
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def roots(self) -> list[int]:
        """The processes that were started; there may be others below them."""
        return [process.pid for process in self._started]

    def start(self, command: list[str]) -> None:
        """One more, in a session of its own."""
        environment = {name: value for name, value in os.environ.items() if name != "HOLDFAST_URL"}
        environment[ruler.RECORD] = str(self.record.path)
        with self._log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  # a queue's own worker
                command, cwd=self._log.parent, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self._started.append(process)

    def at_work(self) -> ruler.Record:
        """The record, with a run in it."""
        ruler.wait(lambda: self.record.count() > 0 or self._has_ended(), _START_LIMIT)
        if self.record.count() == 0:
            said = self._log.read_text(errors="replace").strip().splitlines()[-3:]
            how = "the worker ended" if self._has_ended() else f"no job began within {_START_LIMIT:g} s"
            raise Failed(f"{how}; it said: {' / '.join(said) or 'nothing'}")
        return self.record

    def end(self, patience: float) -> None:
        """Ask them to stop, and kill what has not done so in time."""
        everyone = ruler.family(self.roots)
        for process in self._started:
            process.terminate()
        limit = time.monotonic() + patience
        for process in self._started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, limit - time.monotonic()))
            with suppress(ProcessLookupError, PermissionError):  # a group of zombies may not be signalled everywhere
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for process_id in ruler.alive(everyone):
            _kill(process_id)
        ruler.wait(lambda: not ruler.alive(everyone), _STOP_LIMIT)  # files may go only after their users

    def _has_ended(self) -> bool:
        return all(process.poll() is not None for process in self._started)


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _idle_share(roots: list[int], seconds: float) -> dict[str, float]:
    """Of one core, in percent; nothing where the system does not tell."""
    processes = ruler.family(roots)
    if not seconds or not processes:
        return {}
    used, begin = ruler.processor_seconds(processes), time.perf_counter()
    time.sleep(seconds)
    used = ruler.processor_seconds(ruler.family(roots)) - used
    return {"idle CPU %": 100 * used / (time.perf_counter() - begin)}


def _end_of(queue: Queue, record: ruler.Record) -> int:
    """When the last job was durably complete, for those that can tell; else when it began."""
    end = max(run.began for run in record.runs())
    limit = time.monotonic() + 10
    while queue.remaining() and time.monotonic() < limit:
        end = time.time_ns()
    return end


def _rate(runs: list[ruler.Run], end: int) -> tuple[float, int]:
    """Jobs a second from the first job of the last process on, and how many processes there were.

    If most jobs were done by then, from the first job of all: the few that are left would tell nothing.
    """
    firsts: dict[int, int] = {}
    for run in runs:
        firsts[run.process] = min(run.began, firsts.get(run.process, run.began))
    begin = max(firsts.values())
    if 2 * sum(run.began >= begin for run in runs) < len(runs):
        begin = min(firsts.values())
    counted = sum(begin <= run.began <= end for run in runs)
    return counted / (max(1, end - begin) / 1e9), len(firsts)
