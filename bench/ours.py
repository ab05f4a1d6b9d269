"""The same work through Holdfast: its public way in, and its engine's exchange of endings for new work."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from time import perf_counter
from typing import Any

from holdfast import App
from holdfast.cli.measures.rounds import Sample
from holdfast.engine import leases
from holdfast.model.outcome import Returned
from holdfast.store.port import Order
from holdfast.worker.runner import returned

CHUNK = 10_000
OWNER = "bench:1:drain"
LEASE_MS = 60_000
PATH = "a" * 180  # makes a payload of 200 bytes


async def thumbnail(path: str, width: int = 3) -> dict[str, int]:
    """The job: typed arguments, a coroutine, a small result."""
    del path
    return {"width": width}


def payload_text() -> str:
    """The payload as it is stored."""
    return f'{{"path":"{PATH}","width":5}}'


def open_app(url: str) -> tuple[App, Any]:
    """An application on a database, its schema made, and the handler of the one job."""
    app = App(url)
    app.desk.store.migrate()
    return app, app.job(thumbnail)


def enqueue_all(path: Path, count: int) -> Sample:
    """Jobs by the bulk call."""
    app, handler = open_app(f"sqlite:///{path}")
    took = fill(app, handler, count)
    app.close()
    return Sample(count / took, {"bytes per waiting job": path.stat().st_size / count})


def fill(app: App, handler: Any, count: int) -> float:
    """Enqueue so many jobs; the seconds it took."""
    begin = perf_counter()
    for start in range(0, count, CHUNK):
        app.enqueue_many([handler.call(path=PATH, width=5) for _ in range(min(CHUNK, count - start))])
    return perf_counter() - begin


def drain(path: Path, count: int, batch: int) -> Sample:
    """Run every job of a filled queue to its end."""
    app, handler = open_app(f"sqlite:///{path}")
    fill(app, handler, count)
    took, high = drain_all(app, count, batch, Path(f"{path}-wal"))
    app.close()
    return Sample(count / took, {"bytes per ended job": path.stat().st_size / count, "log MB": high / 1e6})


def drain_all(app: App, count: int, batch: int, log: Path | None = None) -> tuple[float, int]:
    """Run all jobs there are: the seconds, and the log's greatest size."""
    done, took, high = asyncio.run(drain_app(app, count, batch, log))
    assert done == count, f"{done} of {count} jobs completed"
    waiting = app.statistics()["lines"][0]["waiting"]
    assert waiting == 0, f"{waiting} jobs are left"
    return took, high


async def drain_app(
    app: App, count: int, batch: int, log: Path | None, queues: tuple[str, ...] | None = None
) -> tuple[int, float, int]:
    """Run at least `count` jobs, if there are so many: how many were run, the seconds, the log's greatest size."""
    orders = [Order(OWNER, app.registry.lanes(queues), batch, LEASE_MS)]
    policies = app.registry.policies()

    def exchange(ended: list[Any], orders: list[Order]) -> Any:
        return asyncio.ensure_future(app.desk.awrite(leases.exchange, ended, orders, policies))

    begin = perf_counter()
    done, high = 0, 0
    ended: list[Any] = []
    claims = (await exchange([], orders)).claims[0]
    while claims:
        done += len(claims)
        coming = exchange(ended, orders if done < count else [])
        await asyncio.sleep(0)  # lets the exchange begin: the next batch is fetched while this one runs
        ended = []
        await asyncio.gather(*[asyncio.create_task(run_job(app, claim, ended)) for claim in claims])
        if log is not None:
            high = max(high, os.stat(log).st_size)  # noqa: PTH116  # a call to the system, and a short one
        claims = next(iter((await coming).claims), [])
    accepted = (await exchange(ended, [])).accepted
    assert all(accepted), "a lease was lost"
    return done, perf_counter() - begin, high


async def run_job(app: App, claim: Any, ended: list[Any]) -> None:
    """One job, and its ending beside the others."""
    definition = app.registry.get(claim.type)
    arguments = definition.signature.load(claim.payload)
    ended.append((claim, returned(await definition.function(**arguments))))


def claim_times(app: App, turns: int, batch: int, queues: tuple[str, ...] | None = None) -> list[float]:
    """Seconds of exchanges made one at a time with nothing beside them, each durable."""
    orders = [Order(OWNER, app.registry.lanes(queues), batch, LEASE_MS)]
    policies = app.registry.policies()
    ended: list[Any] = []
    times = []
    for _ in range(turns):
        begin = perf_counter()
        (claims,) = app.desk.write(leases.exchange, ended, orders, policies).claims
        times.append(perf_counter() - begin)
        ended = [(claim, Returned(None)) for claim in claims]
    app.desk.write(leases.exchange, ended, [], policies)
    return times
