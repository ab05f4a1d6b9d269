"""The test kit: a throw-away application, a clock that you move, and a worker that runs when you say so.

As a pytest plugin it gives the fixtures `holdfast_clock` and `holdfast_app`; everywhere else use `temporary_app`.

    def test_a_thumbnail_is_made(holdfast_app):
        thumbnail = holdfast_app.job(make_thumbnail)
        handle = thumbnail.enqueue(path="a.png")
        drain(holdfast_app)
        assert handle.result(timeout=0) == {"width": 200}
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    from pytest import fixture  # noqa: PT013  # the one name that is needed
except ModuleNotFoundError:  # the kit works without pytest, only its fixtures do not

    def fixture(function: Any) -> Any:  # type: ignore[no-redef]
        return function


from holdfast.app import App
from holdfast.engine import leases, limits, repairs, schedules
from holdfast.model import stamp
from holdfast.model.decide import decide
from holdfast.model.errors import HoldfastError
from holdfast.model.failure import timed_out
from holdfast.model.lease import Lane
from holdfast.model.outcome import Raised, Returned, Unstarted
from holdfast.store.port import Ending, Order
from holdfast.worker.chunks import is_chunk, new_run
from holdfast.worker.runner import call_function, run_coroutine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.registry import Registry
    from holdfast.model.lease import Claim
    from holdfast.model.outcome import Outcome
    from holdfast.store.port import Transaction
    from holdfast.worker.runner import Run

_OWNER = "test:0:drain"
_LEASE_MS = 60_000


class Clock:
    """Time stands still until you move it. Pass it as `App(clock=...)`."""

    def __init__(self, start: datetime = datetime(2025, 1, 16, 12, tzinfo=UTC)) -> None:
        self._now = stamp.from_datetime(start)

    def __call__(self) -> int:
        return self._now

    @property
    def now(self) -> datetime:
        """The moment it shows."""
        return stamp.to_datetime(self._now)

    def advance(self, seconds: float | timedelta) -> None:
        """Let time pass."""
        span = seconds if isinstance(seconds, timedelta) else timedelta(seconds=seconds)
        self._now += span // timedelta(milliseconds=1)

    def move_to(self, moment: datetime) -> None:
        """Let time pass up to a moment."""
        self._now = max(self._now, stamp.from_datetime(moment))


@dataclass(slots=True)
class Drained:
    """What a drain did: the ids of the jobs it ran, in order, by where they went."""

    ran: list[str] = field(default_factory=list)
    by_status: dict[str, list[str]] = field(default_factory=dict)


@contextmanager
def temporary_app(clock: Clock | None = None) -> Iterator[App]:
    """An application on a throw-away file of its own."""
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        # A test's power is not cut: it need not wait for the disk.
        app = App(f"sqlite:///{Path(folder) / 'jobs.db'}?synchronous=normal", clock=clock)
        try:
            yield app
        finally:
            app.close()


def drain(app: App, *, clock: Clock | None = None, most: int = 10_000) -> Drained:
    """Run every due job, one after the other, until none is due; with `clock`, move it on to what is due later.

    Schedules whose ticks have come make their jobs first; the clock is not moved on to ticks alone, which never end.

    Must be called outside a running event loop.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        done = Drained()
    else:
        raise HoldfastError("USE_AWAIT", "drain() runs handlers itself: call it outside the event loop, or in a thread")
    while True:
        following = tick(app)
        app.desk.write(repairs.recover_expired, app.registry.policies())
        app.desk.write(repairs.expire_parked)
        claims = app.desk.write(_claim_any, app.registry)
        if claims:
            if len(done.ran) == most:
                app.desk.write(leases.finish, [(claims[0], Unstarted())])
                raise AssertionError(f"{most} jobs ran and more are due: does one enqueue itself for ever?")
            _run_one(app, claims[0], done)
            continue
        due = app.desk.read(_next_due, app.registry) if clock is not None else None
        if clock is None or due is None:
            return done
        clock.move_to(stamp.to_datetime(due) if following is None else min(stamp.to_datetime(due), following))


def tick(app: App) -> datetime | None:
    """Make the jobs of schedules whose ticks have come, as a worker does; answers when the next one is."""
    if app.said:
        app.desk.write(limits.declare, app.said)
    if app.declared:
        app.desk.write(schedules.declare, app.declared, app.declared_at)
    names, following = app.desk.read(_due_schedules)
    while names:
        for name in names:
            app.desk.write(schedules.tick, name)
        names, following = app.desk.read(_due_schedules)
    return None if following is None else stamp.to_datetime(following)


@fixture
def holdfast_clock() -> Clock:
    """A clock that stands still until you move it."""
    return Clock()


@fixture
def holdfast_app(holdfast_clock: Clock) -> Iterator[App]:
    """An application on a throw-away file, on the clock above."""
    with temporary_app(holdfast_clock) as app:
        yield app


def _run_one(app: App, claim: Claim, done: Drained) -> None:
    definition = app.registry.get(claim.type)
    assert definition is not None, "only lanes of known types are drawn from"
    run = new_run(claim, definition, app.desk)
    outcome = asyncio.run(_awaited(run)) if definition.is_coroutine else call_function(run)
    status = (
        app.desk.read(_status, claim.id) if run.settled else app.desk.write(_finish, claim, outcome, definition.policy)
    )
    done.ran.append(claim.id)
    done.by_status.setdefault(status, []).append(claim.id)


async def _awaited(run: Run) -> Outcome:
    timeout_ms = None if is_chunk(run.claim) else run.claim.timeout_ms or run.definition.policy.timeout_ms
    try:
        async with asyncio.timeout(None if timeout_ms is None else timeout_ms / 1000):
            return await run_coroutine(run)
    except TimeoutError as error:
        return Raised(timed_out(timeout_ms or 0, error.__cause__))


def _finish(tx: Transaction, claim: Claim, outcome: object, policy: object) -> str:
    move = decide(claim, outcome, policy, spread=random.random())  # type: ignore[arg-type]
    following = outcome.follow_ups if isinstance(outcome, Returned) else ()
    tx.finish([Ending(claim, move, following)])
    return _status(tx, claim.id)


def _status(tx: Transaction, job_id: str) -> str:
    job = tx.get(job_id)
    return "" if job is None else job.status.value


def _claim_any(tx: Transaction, registry: Registry) -> list[Claim]:
    """Known types, whichever queue they were sent to; those that should run alone, too."""
    order = Order(_OWNER, _lanes(tx, registry), 1, _LEASE_MS)
    return leases.claim(tx, order) or tx.claim_alone(order)


def _next_due(tx: Transaction, registry: Registry) -> int | None:
    return tx.next_due(_lanes(tx, registry))


def _due_schedules(tx: Transaction) -> tuple[list[str], int | None]:
    return tx.due_schedules()


def _lanes(tx: Transaction, registry: Registry) -> tuple[Lane, ...]:
    waiting = {row[0] for row in tx.overview(1)["waiting"]} | {definition.queue for definition in registry}
    return registry.lanes(sorted(waiting))
