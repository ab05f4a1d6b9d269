"""What the store tests start from: a clock that moves by hand, the back ends, and one-line verbs.

To run the whole suite on another database, add one factory to BACK_ENDS.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from holdfast.model.decide import decide
from holdfast.model.failure import Failure
from holdfast.model.job import Job
from holdfast.model.lease import Claim, Lane
from holdfast.model.outcome import Crashed, Outcome, Raised, Returned
from holdfast.model.policy import DEFAULT_POLICY, Policy
from holdfast.model.request import NewJob
from holdfast.model.status import Status
from holdfast.store.port import Ending, Order
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.sqlite.store import SqliteStore
from tests.servers.pgbouncer import bouncer
from tests.servers.postgres import server

NOON = 1_737_028_800_000  # 2025-01-16T12:00:00.000Z
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
LEASE = MINUTE
TABLES = (
    "job_queue", "job_history", "job_figures", "job_workers", "job_pauses", "job_leader", "job_audit", "job_sequences",
    "job_schedules", "job_parents", "job_cancels", "job_stopping", "job_subscriptions", "job_batches",
    "job_items", "job_limits", "job_lanes", "job_units", "job_looks",
)  # fmt: skip
NEWEST = "~"  # a cursor above every job

MAIL = Lane("default", "mail")
FAILURE = Failure("ValueError", "the address is wrong")
FAILED = Raised(FAILURE, permanent=True)
RAISED = Raised(FAILURE)
CRASHED = Crashed(Failure("LeaseExpired", "the worker fell silent", "LEASE_EXPIRED"))
DONE = Returned('{"sent":true}')


class Inserted(NamedTuple):
    """What an enqueue answers."""

    id: str
    created: bool


class Clock:
    """The store's clock; it moves only when a test moves it."""

    def __init__(self, now: int = NOON) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def forward(self, ms: int) -> None:
        self.now += ms


def _apsw(folder: Path, clock: Callable[[], int]) -> SqliteStore:
    return SqliteStore(f"sqlite:///{folder}/jobs.db?synchronous=normal", clock=clock)


def _standard_library(folder: Path, clock: Callable[[], int]) -> SqliteStore:
    settings = "driver=sqlite3&allow_unsafe_sqlite=1&synchronous=normal"
    return SqliteStore(f"sqlite:///{folder}/jobs.db?{settings}", clock=clock)


def _postgres(folder: Path, clock: Callable[[], int]) -> PostgresStore:
    return PostgresStore(_database.for_the_test_in(folder), clock=clock)


def _pooled(folder: Path, clock: Callable[[], int]) -> PostgresStore:
    return PostgresStore(bouncer().before(_database.for_the_test_in(folder)), clock=clock)


class _Database:
    """One database of this process for all its tests: emptied for each, which is quicker than making another."""

    def __init__(self) -> None:
        self.url = ""
        self.folder: Path | None = None

    def for_the_test_in(self, folder: Path) -> str:
        if not self.url:
            self.url = server().migrated()
            atexit.register(server().drop, self.url)
        if folder != self.folder:
            empty(self.url)
            self.folder = folder
        return self.url


def empty(url: str) -> None:
    """Take everything out of a database but Holdfast's own tables."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"truncate {', '.join(TABLES)}")
        connection.execute("drop table if exists mine")


_database = _Database()

BACK_ENDS: dict[str, Callable[[Path, Callable[[], int]], Any]] = {
    "sqlite-apsw": _apsw,
    "sqlite-sqlite3": _standard_library,
    "postgres": _postgres,
}
# The same server through PgBouncer in transaction mode: no other store, but one that keeps nothing of a session.
POOLED = "postgres-pgbouncer"
WAYS = BACK_ENDS | {POOLED: _pooled}
EVERY_WAY = [*BACK_ENDS, pytest.param(POOLED, marks=pytest.mark.slow)]
# For what only a server, or only a file, can show.
on_servers = pytest.mark.parametrize(
    "open_store", ["postgres", pytest.param(POOLED, marks=pytest.mark.slow)], indirect=True
)
on_files = pytest.mark.parametrize("open_store", ["sqlite-apsw", "sqlite-sqlite3"], indirect=True)


def is_postgres(store: Any) -> bool:
    return isinstance(store, PostgresStore)


def write(store: Any, call: Callable[[Any], Any]) -> Any:
    """The call's answer; what it raised is raised here."""
    (answer,), _ = store.write([call])
    if isinstance(answer, Exception):
        raise answer
    return answer


def news_of(store: Any, call: Callable[[Any], Any]) -> Any:
    """What the commit of one call tells the signals."""
    (answer,), news = store.write([call])
    assert not isinstance(answer, Exception), answer
    return news


def transactions(store: Any, work: Callable[[], Any]) -> tuple[Any, int]:
    """What a piece of work answers, and how many transactions it begins on the store's connection."""
    begun: list[int] = []
    begin = store._writer.begin
    store._writer.begin = lambda *args, **kwargs: begun.append(1) or begin(*args, **kwargs)
    try:
        return work(), len(begun)
    finally:
        store._writer.begin = begin


def insert(store: Any, *jobs: NewJob) -> list[Inserted]:
    return [Inserted(*pair) for pair in write(store, lambda tx: tx.insert(jobs))]


def enqueue(store: Any, kind: str = "mail", payload: str = "{}", **options: Any) -> str:
    """The id of one new job."""
    return insert(store, NewJob(kind, payload, **options))[0].id


def get(store: Any, job_id: str) -> Job:
    job = store.read(lambda tx: tx.get(job_id))
    assert job is not None, f"there is no job {job_id}"
    return job


def status(store: Any, job_id: str) -> Status:
    return get(store, job_id).status


def claim(store: Any, *lanes: Lane, owner: str = "first", limit: int = 10, lease_ms: int = LEASE) -> list[Claim]:
    return write(store, lambda tx: tx.claim(Order(owner, lanes or (MAIL,), limit, lease_ms)))


def claim_one(store: Any, *lanes: Lane, owner: str = "first", lease_ms: int = LEASE) -> Claim:
    (only,) = claim(store, *lanes, owner=owner, limit=1, lease_ms=lease_ms)
    return only


def running(store: Any, kind: str = "mail", **options: Any) -> Claim:
    """A new job, under lease."""
    job_id = enqueue(store, kind, **options)
    taken = claim_one(store, Lane(options.get("queue", "default"), kind, options.get("payload_version", 1)))
    assert taken.id == job_id, "another job was due before this one"
    return taken


def finish(store: Any, run: Claim, outcome: Outcome, *, policy: Policy = DEFAULT_POLICY, expired: bool = False) -> bool:
    """End a run by its outcome; False where the lease is lost."""

    def call(tx: Any) -> list[bool]:
        return tx.finish([Ending(run, decide(run, outcome, policy, spread=0.0))], expired=expired)

    (held,) = write(store, call)
    return held


def recover(store: Any, *, policy: Policy = DEFAULT_POLICY, limit: int = 100) -> list[bool]:
    """What the watchdog does: find the runs whose lease ran out, decide, and end them under the guard."""

    def call(tx: Any) -> list[bool]:
        runs = tx.expired(limit)
        endings = [Ending(run, decide(run, CRASHED, policy, spread=0.0)) for run in runs]
        return tx.finish(endings, expired=True)

    return write(store, call)


def cancel(store: Any, job_id: str, *, graceful: bool = False, tenant: str | None = None) -> str | None:
    error = Failure("Cancelled", "stopped on request", "CANCELLED").as_text()
    return write(store, lambda tx: tx.cancel(job_id, tenant=tenant, graceful=graceful, error=error))


def retry(store: Any, job_id: str, tenant: str | None = None) -> bool:
    return write(store, lambda tx: tx.retry(job_id, tenant))


def ended(store: Any, outcome: Outcome, **options: Any) -> str:
    """The id of a job whose only run ended with the outcome."""
    run = running(store, **options)
    assert finish(store, run, outcome)
    return run.id


def dead(store: Any, **options: Any) -> str:
    """The id of a dead letter."""
    return ended(store, RAISED, max_attempts=1, **options)


def listed(store: Any, before: str = NEWEST, limit: int = 100, **where: str | None) -> list[str]:
    jobs, _ = store.read(lambda tx: tx.list_jobs(where, before, limit))
    return [job.id for job in jobs]
