"""The store and the engine on PostgreSQL: what they cost on top of the database itself, and how they bear growth."""

from __future__ import annotations

from pathlib import Path

from bench import ours
from bench.engine import OURS, Sizes
from bench.postgres import bare_loop, decay, growth
from bench.postgres.server import Databases, execute, settle
from holdfast.cli.measures import trials
from holdfast.cli.measures.ours import Ours
from holdfast.cli.measures.rounds import AtLeast, Sample, Workload

SIZE = "select pg_total_relation_size('job_queue')"


def groups(
    databases: Databases, folder: Path, sizes: Sizes, held: decay.Sizes, only: frozenset[str] = frozenset()
) -> list[list[Workload]]:
    """Workloads that are measured turn by turn; one group after the other."""
    core = [_one_at_a_time(databases, folder, sizes), _bulk(databases, sizes), _claim_and_finish(databases, sizes)]
    beside = growth.workloads(databases, small=sizes.small, large=sizes.large, jobs=sizes.beside, batch=sizes.batch)
    alone = [*beside, decay.workload(databases, held)]
    wanted = [[w for w in group if not only or w.name in only] for group in (core, *([one] for one in alone))]
    return [group for group in wanted if group]


def _one_at_a_time(databases: Databases, folder: Path, sizes: Sizes) -> Workload:
    return Workload(
        name="W1",
        title="enqueue one at a time, beside a bare insert",
        sides={
            OURS: databases.measured(lambda url: _enqueue_each(url, folder, sizes.each)),
            "bare insert": databases.measured(
                lambda url: bare_loop.insert_each(url, sizes.each, ours.payload_text())
            ),
        },
        targets=(AtLeast(OURS, "bare insert", 0.7),),
    )  # fmt: skip


def _bulk(databases: Databases, sizes: Sizes) -> Workload:
    return Workload(
        name="W2",
        title="enqueue in bulk",
        sides={
            OURS: databases.measured(lambda url: _enqueue_all(url, sizes.bulk)),
            "COPY": databases.measured(lambda url: bare_loop.copy_all(url, sizes.bulk, ours.payload_text())),
        },
        targets=(AtLeast(OURS, "COPY", 0.5),),
    )


def _claim_and_finish(databases: Databases, sizes: Sizes) -> Workload:
    return Workload(
        name="drain",
        title="claim, run and finish",
        sides={
            OURS: databases.measured(lambda url: _drain(url, sizes.drain, sizes.batch)),
            "bare loop": databases.measured(
                lambda url: bare_loop.drain(url, sizes.drain, sizes.batch, ours.payload_text())
            ),
        },
        targets=(AtLeast(OURS, "bare loop", 0.6),),
    )


def _enqueue_each(url: str, folder: Path, count: int) -> Sample:
    queue = Ours(folder, url)
    queue.open()
    try:
        return trials.one_at_a_time(queue, count)
    finally:
        queue.close()


def _enqueue_all(url: str, count: int) -> Sample:
    app, handler = ours.open_app(url)
    took = ours.fill(app, handler, count)
    app.close()
    return Sample(count / took, {"bytes per waiting job": execute(url, SIZE)[0][0] / count})


def _drain(url: str, count: int, batch: int) -> Sample:
    app, handler = ours.open_app(url)
    ours.fill(app, handler, count)
    settle(url)
    took, _ = ours.drain_all(app, count, batch)
    app.close()
    return Sample(count / took, {"bytes per ended job": execute(url, SIZE)[0][0] / count})
