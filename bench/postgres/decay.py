"""Another transaction stays open while jobs come and go: dead rows pile up, and a claim must not wade through them.

Enqueue and drain keep each other's pace on two databases of one server, a second here and a second there. In one of
them a transaction with a snapshot and a number of its own stays open, and the last window of that time is held against
what the other did in the same window: the same growth of the table, and the same whims of the machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import mean
from time import perf_counter
from typing import Any

import psycopg

from bench import ours
from bench.postgres.server import Databases
from holdfast import App
from holdfast.cli.measures.rounds import Below, Sample, Workload
from holdfast.engine import leases
from holdfast.store.port import Order

HELD = "another transaction open"
ROUNDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Seconds of load on each of the two databases, but for the jobs that wait at any time and the batch."""

    hold: float = 120
    window: float = 30
    turn: float = 1
    warm_up: float = 5
    depth: int = 4_000
    batch: int = 200


TINY = Sizes(hold=0.6, window=0.3, turn=0.1, warm_up=0.1, depth=100, batch=50)


def workload(databases: Databases, sizes: Sizes) -> Workload:
    """One side: what it is held against is measured with it."""

    def beside(url: str) -> Sample:
        return databases.measured(lambda other: measure(url, other, sizes))()

    return Workload(
        name="decay",
        title=f"enqueue and drain while another transaction stays open for {sizes.hold:g} s of load",
        sides={HELD: databases.measured(beside)},
        targets=(Below(HELD, "lost %", 5),),
        rounds=ROUNDS,
    )


def measure(url: str, other: str, sizes: Sizes) -> Sample:
    """The rate of the last window, and how much it is below that of the other database."""
    with _loaded(url, sizes) as held, _loaded(other, sizes) as free:
        _in_turn(held, free, sizes.warm_up, sizes.turn)
        with open_transaction(url):
            _in_turn(held, free, max(0.0, sizes.hold - sizes.window), sizes.turn)
            last, beside = _in_turn(held, free, sizes.window, sizes.turn)
    return Sample(last, {"none open": beside, "lost %": 100 * (1 - last / beside)})


def _in_turn(one: _Load, other: _Load, seconds: float, turn: float) -> tuple[float, float]:
    """Both go on for so long, a moment each: a machine that others use, too, is as slow for both."""
    rates = [(one.keep_up(turn), other.keep_up(turn)) for _ in range(max(1, round(seconds / turn)))]
    return mean(rate for rate, _ in rates), mean(rate for _, rate in rates)


@contextmanager
def _loaded(url: str, sizes: Sizes) -> Iterator[_Load]:
    app, handler = ours.open_app(url)
    try:
        yield _Load(app, handler, sizes)
    finally:
        app.close()


@contextmanager
def open_transaction(url: str) -> Iterator[None]:
    """Idle, with a snapshot and a transaction number: nothing that dies from now on can be cleaned away."""
    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("select pg_current_xact_id()")
        yield
        connection.rollback()


class _Load:
    """Jobs that come and go at the same pace; so many wait at any time."""

    def __init__(self, app: App, handler: Any, sizes: Sizes) -> None:
        self._app = app
        self._handler = handler
        self._batch = sizes.batch
        ours.fill(app, handler, sizes.depth)

    def keep_up(self, seconds: float) -> float:
        """Go on for so long: jobs a second that came, ran and ended."""
        return asyncio.run(self._go_on(seconds))

    async def _go_on(self, seconds: float) -> float:
        orders = [Order(ours.OWNER, self._app.registry.lanes(None), self._batch, ours.LEASE_MS)]
        policies = self._app.registry.policies()
        begin = perf_counter()
        done = 0
        ended: list[Any] = []
        while True:
            over = perf_counter() - begin >= seconds
            if over and not ended:
                return done / (perf_counter() - begin)
            given, ended = ended, []
            answer = await self._app.desk.awrite(leases.exchange, given, [] if over else orders, policies)
            claims = next(iter(answer.claims), [])
            assert all(answer.accepted), "a lease was lost"
            assert claims or over, "no job was found where there must be some"
            await asyncio.gather(*[asyncio.create_task(ours.run_job(self._app, claim, ended)) for claim in claims])
            if claims:
                calls = [self._handler.call(path=ours.PATH, width=5) for _ in claims]
                await self._app.aenqueue_many(calls)
            done += len(given)
