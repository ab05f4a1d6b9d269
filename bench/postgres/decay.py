"""Another transaction stays open while jobs come and go: dead rows pile up, and a claim must not wade through them.

Enqueue and drain keep each other's pace on one database. The base is what they do in a window before; then a
transaction with a snapshot and a number of its own stays open, and the last window of that time is held against the
base. The same without that transaction is measured beside it: it tells what the table's growth and the machine do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import psycopg

from bench import ours
from bench.postgres.server import Databases
from holdfast import App
from holdfast.cli.measures.rounds import Below, Sample, Workload
from holdfast.engine import leases
from holdfast.store.port import Order

HELD, FREE = "another transaction open", "none open"
ROUNDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Seconds, but for the jobs that wait at any time and the batch."""

    hold: float = 120
    window: float = 20
    warm_up: float = 5
    depth: int = 4_000
    batch: int = 200


TINY = Sizes(hold=0.6, window=0.3, warm_up=0.1, depth=100, batch=50)


def workload(databases: Databases, sizes: Sizes) -> Workload:
    """Two sides of the same length."""
    return Workload(
        name="decay",
        title=f"enqueue and drain while another transaction stays open for {sizes.hold:g} s",
        sides={
            HELD: databases.measured(lambda url: measure(url, sizes, held=True)),
            FREE: databases.measured(lambda url: measure(url, sizes, held=False)),
        },
        targets=(Below(HELD, "lost %", 5),),
        rounds=ROUNDS,
    )


def measure(url: str, sizes: Sizes, *, held: bool) -> Sample:
    """The rate of the last window, and how much of the base was lost by then."""
    app, handler = ours.open_app(url)
    try:
        load = _Load(app, handler, sizes)
        load.keep_up(sizes.warm_up)
        base = load.keep_up(sizes.window)
        with open_transaction(url) if held else nullcontext():
            load.keep_up(max(0.0, sizes.hold - sizes.window))
            last = load.keep_up(sizes.window)
    finally:
        app.close()
    return Sample(last, {"base": base, "lost %": 100 * (1 - last / base)})


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
        return asyncio.run(self._go_on(seconds)) if seconds else 0.0

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
