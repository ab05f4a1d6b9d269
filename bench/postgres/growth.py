"""The same drain in a small and in a large database: what stands beside the jobs must not slow them down."""

from __future__ import annotations

import asyncio
import statistics
from time import time_ns

import psycopg

from bench import ours
from bench.growth import HOUR_MS, MIXED, PAUSED, QUEUES, time_of_id
from bench.postgres.server import Databases, settle
from holdfast.cli.measures.rounds import AtLeast, AtMost, Sample, Workload

# What stands beside the jobs: the columns in which it differs from a waiting job that is due. i counts the rows.
KINDS: dict[str, dict[str, str]] = {
    "queued": {},
    "finished": {
        "status": "'completed'", "completed_at": "past", "started_at": "past", "attempts": "1", "lease_token": "1",
        "result": "'{\"width\":5}'", "version": "3",
    },
    "scheduled": {"priority": "1", "scheduled_at": "past + interval '25 hours'"},
    "unknown type": {"priority": "1", "type": "'unknown_' || (i %% 100)"},
    "paused queue": {"priority": "1", "queue": f"'{PAUSED}'"},
}  # fmt: skip
WAITING = {
    # Digits are letters of an id, too: with the time of an hour ago in front they make a valid one.
    "id": "%(time)s || lpad(i::text, 16, '0')", "type": "'thumbnail'", "priority": "5", "scheduled_at": "past",
    "payload": "%(payload)s", "max_retries": "3", "created_at": "past", "updated_at": "past",
}  # fmt: skip
FILL = """
insert into job_queue ({columns})
select {values} from generate_series(%(first)s, %(last)s) as i, (select now() - interval '1 hour' as past) as clock
"""
AT_ONCE = 100_000
MOST_PROBES = 300  # of which the 99th percentile is more than the worst


def workloads(databases: Databases, *, small: int, large: int, jobs: int, batch: int) -> list[Workload]:
    """One for each kind of company; each is measured, and cleaned away, on its own."""
    return [_workload(databases, kind, small=small, large=large, jobs=jobs, batch=batch) for kind in (*KINDS, "mixed")]


def _workload(databases: Databases, kind: str, *, small: int, large: int, jobs: int, batch: int) -> Workload:
    beside = [Beside(databases, kind, rows, jobs, batch) for rows in (large, small)]
    many, few = (f"{one.rows:,} rows" for one in beside)

    def clean_up() -> None:
        for one in beside:
            one.remove()

    return Workload(
        name=f"beside {kind}",
        title=f"claim and finish beside jobs: {kind}",
        sides={many: beside[0].measure, few: beside[1].measure},
        targets=(AtLeast(many, few, 0.9), AtMost(many, "claim p99 ms", few, 2)),
        clean_up=clean_up,
    )


class Beside:
    """A database with so many rows of one kind. A large one is kept over the rounds; a small one is made anew, for the
    jobs that were drained would make it grow.
    """

    def __init__(self, databases: Databases, kind: str, rows: int, jobs: int, batch: int) -> None:
        self.rows = rows
        self._databases = databases
        self._url = ""
        self._kind = kind
        self._jobs = jobs
        self._batch = batch
        self._remade = rows < jobs

    def measure(self) -> Sample:
        """Put new jobs in, and drain as many."""
        if not self._url:
            self._make()
        app, handler = ours.open_app(self._url)
        try:
            probes = min(MOST_PROBES, self._jobs // 2)
            each = min(10, max(1, self._jobs // (10 * probes)))
            ours.fill(app, handler, self._jobs + probes * each)
            settle(self._url)
            times = ours.claim_times(app, probes, each, QUEUES)
            done, took, _ = asyncio.run(ours.drain_app(app, self._jobs, self._batch, None, QUEUES))
            assert done >= self._jobs, f"{done} of {self._jobs} jobs were found"
        finally:
            app.close()
        if self._remade:
            self.remove()
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        return Sample(done / took, {"claim p50 ms": cuts[49] * 1000, "claim p99 ms": cuts[98] * 1000})

    def remove(self) -> None:
        """Drop the database."""
        url, self._url = self._url, ""
        if url:
            self._databases.drop(url)

    def _make(self) -> None:
        self._url = self._databases.make()
        app, _ = ours.open_app(self._url)
        app.desk.write(lambda transaction: transaction.pause(PAUSED, "bench"))
        app.close()
        fill(self._url, self._kind, self.rows)


def fill(url: str, kind: str, rows: int, payload: str | None = None) -> None:
    """Put rows of a kind beside what is there, by the shortest way. They are an hour old."""
    parts = MIXED if kind == "mixed" else (kind,)
    values = {"time": time_of_id(time_ns() // 1_000_000 - HOUR_MS), "payload": payload or ours.payload_text()}
    with psycopg.connect(url, autocommit=True) as connection:
        for number, part in enumerate(parts):
            columns = WAITING | KINDS[part]
            text = FILL.format(columns=", ".join(columns), values=", ".join(columns.values()))
            first, last = rows * number // len(parts), rows * (number + 1) // len(parts)
            for start in range(first, last, AT_ONCE):
                reach = {"first": start, "last": min(start + AT_ONCE, last) - 1}
                psycopg.ClientCursor(connection).execute(text, values | reach)
