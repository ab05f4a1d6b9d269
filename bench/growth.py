"""The same drain in a small and in a large database: what stands beside the jobs must not slow them down."""

from __future__ import annotations

import asyncio
import statistics
from pathlib import Path
from time import time_ns

import apsw

from bench import ours
from holdfast.cli.measures.rounds import AtLeast, Sample, Workload
from holdfast.model import stamp

HOUR_MS = 3_600_000
PAUSED = "paused"
QUEUES = ("default", PAUSED)
PROBES = 100
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

# What stands beside the jobs: the columns in which it differs from a waiting job that is due. :i counts the rows.
KINDS: dict[str, dict[str, str]] = {
    "queued": {},
    "finished": {
        "status": "'completed'", "completed_at": ":past", "started_at": ":past", "attempts": "1", "lease_token": "1",
        "result": "'{\"width\":5}'", "version": "3",
    },
    "scheduled": {"priority": "1", "scheduled_at": ":tomorrow"},
    "unknown type": {"priority": "1", "type": "'unknown_' || (:i % 100)"},
    "paused queue": {"priority": "1", "queue": f"'{PAUSED}'"},
}  # fmt: skip
MIXED = ("scheduled", "unknown type", "paused queue")

FILL = """
with recursive g (i) as (select :first union all select i + 1 from g where i < :last)
insert into job_queue ({columns}) select {values} from g
"""


def workloads(folder: Path, *, small: int, large: int, jobs: int, batch: int) -> list[Workload]:
    """One for each kind of company; each is measured, and cleaned away, on its own."""
    return [_workload(folder, kind, small=small, large=large, jobs=jobs, batch=batch) for kind in (*KINDS, "mixed")]


def _workload(folder: Path, kind: str, *, small: int, large: int, jobs: int, batch: int) -> Workload:
    beside = [Beside(folder, kind, rows, jobs, batch) for rows in (large, small)]
    many, few = (f"{one.rows:,} rows" for one in beside)
    return Workload(
        name=f"beside {kind}",
        title=f"claim and finish beside jobs: {kind}",
        sides={many: beside[0].measure, few: beside[1].measure},
        targets=(AtLeast(many, few, 0.9),),
        clean_up=lambda: [one.remove() for one in beside],
    )


class Beside:
    """A database with so many rows of one kind. A large one is kept over the rounds; a small one is made anew, for the
    jobs that were drained would make it grow.
    """

    def __init__(self, folder: Path, kind: str, rows: int, jobs: int, batch: int) -> None:
        self.rows = rows
        self._path = folder / f"{kind.replace(' ', '-')}-{rows}.db"
        self._kind = kind
        self._jobs = jobs
        self._batch = batch
        self._remade = rows < jobs

    def measure(self) -> Sample:
        """Put new jobs in, and drain as many."""
        fresh = not self._path.exists()
        app, handler = ours.open_app(f"sqlite:///{self._path}")
        if fresh:
            app.desk.write(lambda transaction: transaction.pause(PAUSED, "bench"))
            app.close()
            fill(self._path, self._kind, self.rows)
            app, handler = ours.open_app(f"sqlite:///{self._path}")
        probed = min(10, max(1, self._jobs // (10 * PROBES))) * PROBES
        ours.fill(app, handler, self._jobs + probed)
        app.desk.store.checkpoint()
        times = ours.claim_times(app, PROBES, probed // PROBES, QUEUES)
        log = Path(f"{self._path}-wal")
        done, took, _ = asyncio.run(ours.drain_app(app, self._jobs, self._batch, log, QUEUES))
        assert done >= self._jobs, f"{done} of {self._jobs} jobs were found"
        app.close()
        if self._remade:
            self.remove()
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        return Sample(done / took, {"claim p50 ms": cuts[49] * 1000, "claim p99 ms": cuts[98] * 1000})

    def remove(self) -> None:
        """Delete the file and what lies beside it."""
        for path in self._path.parent.glob(f"{self._path.name}*"):
            path.unlink()


def fill(path: Path, kind: str, rows: int, payload: str | None = None) -> None:
    """Put rows of a kind beside what is there, by the shortest way. They are an hour old."""
    connection = apsw.Connection(str(path))
    connection.execute("pragma synchronous=off").fetchall()
    parts = MIXED if kind == "mixed" else (kind,)
    for number, part in enumerate(parts):
        first, last = rows * number // len(parts), rows * (number + 1) // len(parts)
        for start in range(first, last, 100_000):
            _fill_some(connection, KINDS[part], start, min(start + 100_000, last) - 1, payload or ours.payload_text())
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    connection.close()


def _fill_some(connection: apsw.Connection, differing: dict[str, str], first: int, last: int, payload: str) -> None:
    now = time_ns() // 1_000_000
    past = stamp.to_text(now - HOUR_MS)
    waiting = {
        # Digits are letters of an id, too: with the time of an hour ago in front they make a valid one.
        "id": ":time || printf('%016d', i)", "type": "'thumbnail'", "priority": "5", "scheduled_at": ":past",
        "payload": ":payload", "max_retries": "3", "created_at": ":past", "updated_at": ":past",
    }  # fmt: skip
    columns = {name: value.replace(":i", "i") for name, value in (waiting | differing).items()}
    values = {
        "time": time_of_id(now - HOUR_MS), "first": first, "last": last, "past": past,
        "tomorrow": stamp.to_text(now + 24 * HOUR_MS), "payload": payload,
    }  # fmt: skip
    used = {name: value for name, value in values.items() if f":{name}" in str(columns) or name in ("first", "last")}
    text = FILL.format(columns=", ".join(columns), values=", ".join(columns.values()))
    connection.execute(text, used).fetchall()


def time_of_id(at: int) -> str:
    """The letters of a time with which an id begins."""
    return "".join(LETTERS[at >> shift & 31] for shift in range(45, -1, -5))
