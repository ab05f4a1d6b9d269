"""What `holdfast bench` measures, turn by turn with its yardsticks, each time on a new database of its own."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.measures import bare, trials
from holdfast.cli.measures.ours import Ours
from holdfast.cli.measures.rounds import Sample, Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OURS = "Holdfast"
BARE = "bare INSERT"
_NO_END = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured, and where: `query` is what stands behind the question mark of the store's address."""

    jobs: int
    seconds: float
    processes: int
    rounds: int
    query: str = ""


def workloads(folder: Path, plan: Plan) -> list[Workload]:
    """All of them, for one group."""
    share = plan.seconds / plan.rounds
    return [
        Workload(name="disk", title="a page made durable", sides={"fdatasync": lambda: bare.disk(folder, share)}),
        Workload(
            name="enqueue",
            title="enqueue one at a time",
            sides={
                OURS: on_ours(folder, plan.query, lambda queue: trials.one_at_a_time(queue, _NO_END, share)),
                BARE: on_bare(folder, plan.query, lambda url: bare.insert_each(url, _NO_END, share)),
            },
        ),
        Workload(
            name="bulk",
            title="enqueue in bulk",
            sides={
                OURS: on_ours(folder, plan.query, lambda queue: trials.bulk(queue, plan.jobs)),
                BARE: on_bare(folder, plan.query, lambda url: bare.insert_all(url, plan.jobs)),
            },
        ),
        Workload(name="drain", title="run a filled queue empty", sides=_drains(folder, plan)),
        Workload(
            name="idle worker",
            title="a job every 20 ms",
            sides={OURS: on_ours(folder, plan.query, lambda queue: _pick_up(queue, plan.seconds))},
            rounds=1,
        ),
    ]


def processes_of(number: int) -> str:
    """The name of a side of the drain."""
    return f"{number} process{'es' if number > 1 else ''}"


def on_ours(folder: Path, query: str, work: Callable[[Ours], Sample]) -> Callable[[], Sample]:
    """A measurement of a queue of its own."""

    def measured() -> Sample:
        with _private(folder) as place:
            queue = Ours(place, _address(place / "jobs.db", query))
            queue.open()
            try:
                return work(queue)
            finally:
                queue.close()

    return measured


def on_bare(folder: Path, query: str, work: Callable[[str], Sample]) -> Callable[[], Sample]:
    """A measurement of a database of its own, by its address."""

    def measured() -> Sample:
        with _private(folder) as place:
            return work(_address(place / "bare.db", query))

    return measured


def _address(path: Path, query: str) -> str:
    return f"sqlite:///{path}{'?' if query else ''}{query}"


def _drains(folder: Path, plan: Plan) -> dict[str, Callable[[], Sample]]:
    def side(number: int) -> Callable[[], Sample]:
        return on_ours(folder, plan.query, lambda queue: trials.drain(queue, plan.jobs, workers=number))

    return {processes_of(number): side(number) for number in sorted({1, plan.processes})}


def _pick_up(queue: Ours, seconds: float) -> Sample:
    return trials.pick_up(queue, max(2, round(seconds / trials.GAP)), idle=seconds)


@contextmanager
def _private(folder: Path) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(dir=folder))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)  # the whole folder goes in the end
