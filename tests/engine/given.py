"""What the engine's tests start from: a clock moved by hand, a desk on a private file, and one-line verbs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.engine import jobs, leases
from holdfast.engine.desk import Desk
from holdfast.model.failure import Failure
from holdfast.model.job import Job
from holdfast.model.lease import Claim, Lane
from holdfast.model.outcome import Outcome, Raised, Returned
from holdfast.model.policy import DEFAULT_POLICY, Policy
from holdfast.model.request import NewJob
from holdfast.store.port import Order
from holdfast.store.sqlite.store import SqliteStore

NOON = 1_737_028_800_000  # 2025-01-16T12:00:00.000Z
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
LONG = 30.0  # seconds; nothing that works takes so long

MAIL = Lane("default", "mail")
DONE = Returned('{"sent":true}')
RAISED = Raised(Failure("ValueError", "the address is wrong"))
REFUSED = Raised(Failure("ValueError", "the address is wrong"), permanent=True)


class Clock:
    """It moves only when a test moves it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now

    def forward(self, ms: int) -> None:
        self.now += ms


def open_desk(folder: Path, clock: Callable[[], int] | None = None, **settings: Any) -> Desk:
    return Desk(SqliteStore(f"sqlite:///{folder}/jobs.db?synchronous=normal", clock=clock, **settings))


def new_job(kind: str = "mail", payload: str = "{}", **options: Any) -> NewJob:
    return NewJob(kind, payload, **options)


def enqueue(desk: Desk, kind: str = "mail", payload: str = "{}", **options: Any) -> str:
    """The id of one new job."""
    return desk.write(jobs.enqueue, [new_job(kind, payload, **options)])[0][0]


def get(desk: Desk, job_id: str) -> Job:
    return desk.read(jobs.get, job_id)


def claim(desk: Desk, *lanes: Lane, owner: str = "first", limit: int = 10, lease_ms: int = MINUTE) -> list[Claim]:
    return desk.write(leases.claim, Order(owner, lanes or (MAIL,), limit, lease_ms))


def running(desk: Desk, kind: str = "mail", *, owner: str = "first", **options: Any) -> Claim:
    """A new job, under lease."""
    job_id = enqueue(desk, kind, **options)
    lane = Lane(options.get("queue", "default"), kind, options.get("payload_version", 1))
    (run,) = claim(desk, lane, owner=owner, limit=1)
    assert run.id == job_id, "another job was due before this one"
    return run


def finish(desk: Desk, run: Claim, outcome: Outcome, policy: Policy = DEFAULT_POLICY) -> bool:
    """End a run by its outcome; False where the lease is lost."""
    (held,) = desk.write(leases.finish, [(run, outcome)], {run.type: policy})
    return held


def ended(desk: Desk, outcome: Outcome = DONE, **options: Any) -> str:
    """The id of a job whose only run ended with the outcome."""
    run = running(desk, **options)
    assert finish(desk, run, outcome)
    return run.id


def dead(desk: Desk, **options: Any) -> str:
    """The id of a dead letter."""
    return ended(desk, RAISED, max_attempts=1, **options)


def parked(desk: Desk, **options: Any) -> str:
    """The id of a job that waits for a person. No verb parks a job yet, so the row is written by hand."""
    job_id = enqueue(desk, **options)
    desk.write(lambda tx: tx.execute("update job_queue set status = 'awaiting_auth' where id = :id", {"id": job_id}))
    return job_id


def count(desk: Desk) -> int:
    return desk.read(lambda tx: tx.execute("select count(*) from job_queue")[0][0])


def in_threads(*works: Callable[[], Any]) -> list[Any]:
    """Run the works at the same time; their answers or errors, in order."""
    answers: list[Any] = [None] * len(works)
    start = threading.Barrier(len(works))

    def work(number: int) -> None:
        start.wait(LONG)
        try:
            answers[number] = works[number]()
        except Exception as error:  # noqa: BLE001  # the test looks at it
            answers[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert not any(thread.is_alive() for thread in threads), "a thread never came back"
    return answers
