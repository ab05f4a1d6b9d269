"""The store and the engine on SQLite: what they cost on top of the database itself, and how they bear growth."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import bare_loop, growth, ours
from holdfast.cli.measures import bare, trials
from holdfast.cli.measures.places import Files
from holdfast.cli.measures.rounds import AtLeast, Sample, Workload
from holdfast.cli.measures.workloads import on_bare, on_ours

OURS = "Holdfast"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much work a round is."""

    each: int = 2_000
    bulk: int = 100_000
    drain: int = 40_000
    batch: int = 200
    small: int = 1_000
    large: int = 1_000_000
    beside: int = 20_000


TINY = Sizes(each=20, bulk=300, drain=300, batch=50, small=50, large=2_000, beside=200)


def groups(folder: Path, sizes: Sizes, only: frozenset[str] = frozenset()) -> list[list[Workload]]:
    """Workloads that are measured turn by turn; one group after the other."""
    core = [_one_at_a_time(folder, sizes), _bulk(folder, sizes), _claim_and_finish(folder, sizes)]
    beside = growth.workloads(folder, small=sizes.small, large=sizes.large, jobs=sizes.beside, batch=sizes.batch)
    wanted = [[w for w in group if not only or w.name in only] for group in (core, *([one] for one in beside))]
    return [group for group in wanted if group]


def _one_at_a_time(folder: Path, sizes: Sizes) -> Workload:
    return Workload(
        name="W1",
        title="enqueue one at a time, beside a bare insert",
        sides={
            OURS: on_ours(Files(folder), lambda queue: trials.one_at_a_time(queue, sizes.each)),
            "bare insert": on_bare(Files(folder), lambda url: bare.insert_each(url, sizes.each)),
        },
        targets=(AtLeast(OURS, "bare insert", 0.7),),
    )


def _bulk(folder: Path, sizes: Sizes) -> Workload:
    return Workload(
        name="W2",
        title="enqueue in bulk",
        sides={
            OURS: _on_a_new_file(folder, lambda path: ours.enqueue_all(path, sizes.bulk)),
            "bare bulk": _on_a_new_file(
                folder, lambda path: bare_loop.insert_all(path, sizes.bulk, ours.payload_text())
            ),
        },
        targets=(AtLeast(OURS, "bare bulk", 0.5),),
    )


def _claim_and_finish(folder: Path, sizes: Sizes) -> Workload:
    return Workload(
        name="drain",
        title="claim, run and finish",
        sides={
            OURS: _on_a_new_file(folder, lambda path: ours.drain(path, sizes.drain, sizes.batch)),
            "bare loop": _on_a_new_file(
                folder, lambda path: bare_loop.drain(path, sizes.drain, sizes.batch, ours.payload_text())
            ),
        },
        targets=(AtLeast(OURS, "bare loop", 0.6),),
    )


def _on_a_new_file(folder: Path, work: Callable[[Path], Sample]) -> Callable[[], Sample]:
    numbers = itertools.count()

    def measured() -> Sample:
        path = folder / f"{id(numbers):x}-{next(numbers)}.db"
        try:
            return work(path)
        finally:
            for left in folder.glob(f"{path.name}*"):
                left.unlink()

    return measured
