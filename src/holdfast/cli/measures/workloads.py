"""What `holdfast bench` measures, turn by turn with its yardsticks, each time on a new database of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.measures import trials
from holdfast.cli.measures.ours import Ours
from holdfast.cli.measures.places import NO_END, Place
from holdfast.cli.measures.rounds import Sample, Workload

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = "Holdfast"
BARE = "bare INSERT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured, and where: `query` is what stands behind the question mark of the store's address."""

    jobs: int
    seconds: float
    processes: int
    rounds: int
    query: str = ""


def workloads(place: Place, plan: Plan) -> list[Workload]:
    """All of them, for one group."""
    share = plan.seconds / plan.rounds
    name, title, side = place.ground
    return [
        Workload(name=name, title=title, sides={side: lambda: place.limit(share)}),
        Workload(
            name="enqueue",
            title="enqueue one at a time",
            sides={
                OURS: on_ours(place, lambda queue: trials.one_at_a_time(queue, NO_END, share)),
                BARE: on_bare(place, lambda url: place.insert_each(url, share)),
            },
        ),
        Workload(
            name="bulk",
            title="enqueue in bulk",
            sides={
                OURS: on_ours(place, lambda queue: trials.bulk(queue, plan.jobs)),
                BARE: on_bare(place, lambda url: place.insert_all(url, plan.jobs)),
            },
        ),
        Workload(name="drain", title="run a filled queue empty", sides=_drains(place, plan)),
        Workload(
            name="idle worker",
            title="a job every 20 ms",
            sides={OURS: on_ours(place, lambda queue: _pick_up(queue, plan.seconds))},
            rounds=1,
        ),
    ]


def processes_of(number: int) -> str:
    """The name of a side of the drain."""
    return f"{number} process{'es' if number > 1 else ''}"


def on_ours(place: Place, work: Callable[[Ours], Sample]) -> Callable[[], Sample]:
    """A measurement of a queue of its own."""

    def measured() -> Sample:
        with place.fresh() as (folder, url):
            queue = Ours(folder, url)
            queue.open()
            try:
                return work(queue)
            finally:
                queue.close()

    return measured


def on_bare(place: Place, work: Callable[[str], Sample]) -> Callable[[], Sample]:
    """A measurement of a database of its own, by its address."""

    def measured() -> Sample:
        with place.fresh() as (_, url):
            return work(url)

    return measured


def _drains(place: Place, plan: Plan) -> dict[str, Callable[[], Sample]]:
    def side(number: int) -> Callable[[], Sample]:
        return on_ours(place, lambda queue: trials.drain(queue, plan.jobs, workers=number))

    return {processes_of(number): side(number) for number in sorted({1, plan.processes})}


def _pick_up(queue: Ours, seconds: float) -> Sample:
    return trials.pick_up(queue, max(2, round(seconds / trials.GAP)), idle=seconds)
