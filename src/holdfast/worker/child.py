"""A child: runs jobs in a process forked from the template."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
from typing import TYPE_CHECKING, Any

from holdfast.worker.application import Application
from holdfast.worker.places import MOST_READY, Places
from holdfast.worker.slots import READY, SlotMap
from holdfast.worker.solo import run_solo
from holdfast.worker.together import Together
from holdfast.worker.worker import Worker

if TYPE_CHECKING:
    from holdfast.engine.registry import Definition, Registry
    from holdfast.model.lease import Lane
    from holdfast.signals.port import Ear

log = logging.getLogger("holdfast.worker")

DRAIN_SECONDS = 25.0
COROUTINES, THREADS = 100, 10
_GARBAGE = 10_000  # objects between two collections: hundreds of jobs are under way at once, and none is garbage


def slots_needed(config: dict[str, Any], together: int = 1) -> int:
    """One for each place and each job held ready, twice: endings wait for their commit in them. `together`: so many
    jobs may share a place.
    """
    queues = config.get("queues") or {}
    places = sum(filter(None, queues.values())) + config["coroutines"] + config["threads"]
    return int(2 * (places + min(MOST_READY, max(config["prefetch"], (together - 1) * places))))


def together(registry: Registry) -> int:
    """The most jobs that one call of a handler takes."""
    return max((one.batch or 1 for one in registry), default=1)


def pools_of(registry: Registry, config: dict[str, Any]) -> list[Places]:
    """A pool for each queue with a number of its own; else one for all coroutines and one for all threads."""
    queues: dict[str, int | None] = config.get("queues") or dict.fromkeys(sorted({one.queue for one in registry}))
    pools = []
    for queue, places in queues.items():
        if places is not None:
            pools += _pool(registry, [queue], places, config, coroutine=None)
    rest = [queue for queue, places in queues.items() if places is None]
    if rest:
        pools += _pool(registry, rest, config["coroutines"], config, coroutine=True)
        pools += _pool(registry, rest, config["threads"], config, coroutine=False)
    return [pool for pool in pools if pool.lanes]


def _pool(
    registry: Registry, queues: list[str], places: int, config: dict[str, Any], *, coroutine: bool | None
) -> list[Places]:
    """The places, and a second pool for the same ones if handlers take many jobs at a time."""
    chosen = [one for one in registry if one.isolation is None and (coroutine is None or one.is_coroutine == coroutine)]
    lease_ms = min((one.policy.lease_ms for one in chosen), default=60_000)
    base = Places(_lanes(chosen, queues, many=False), places, lease_ms, prefetch=config["prefetch"])
    many = _lanes(chosen, queues, many=True)
    return [base, Together(base, many, max(one.batch or 1 for one in chosen))] if many else [base]


def _lanes(chosen: list[Definition], queues: list[str], *, many: bool) -> list[Lane]:
    types = [one for one in chosen if (one.batch is not None) == many]
    return [lane._replace(queue=queue) for queue in queues for one in types for lane in one.lanes()]


def run_child(app: Application, config: dict[str, Any]) -> None:
    """Work until told to stop."""
    gc.set_threshold(_GARBAGE)
    slots = SlotMap(config["slots"], slots_needed(config, together(app.registry)))
    pools = pools_of(app.registry, config)
    threads = sum(pool.places for pool in pools)
    asyncio.run(_work(app, config, slots, pools, min(threads, 1000)))


async def _work(app: Application, config: dict[str, Any], slots: SlotMap, pools: list[Places], threads: int) -> None:
    worker = Worker(app.desk, app.registry, pools, owner=config["owner"], slots=slots, threads=max(1, threads))
    worker.said = dict(app.said)
    worker.may_block = app.desk.store.writes_alone
    app.desk.store.watched = True  # by the supervisor
    loop = asyncio.get_running_loop()
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        worker.drain(float(config.get("drain", DRAIN_SECONDS)) if asked == 1 else 0.0)

    loop.add_signal_handler(signal.SIGTERM, stop)
    _heed_stop()
    listener = listen(app, config["owner"], loop, worker) if config.get("signals", True) else None
    slots.say(READY)
    try:
        await worker.work()
    finally:
        if listener is not None:
            loop.remove_reader(listener.fileno())
            listener.close()


def listen(app: Application, owner: str, loop: asyncio.AbstractEventLoop, worker: Worker) -> Ear:
    """Wake the worker when another process has new work for it."""
    listener = app.signal.listen(owner)

    def heard() -> None:
        if listener.receive().queues:
            worker.look()

    loop.add_reader(listener.fileno(), heard)
    listener.fetch = worker.fetch
    worker.ear = listener
    return listener


def _heed_stop() -> None:
    """The template holds SIGTERM back: one that came while this process started is delivered now."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def child_main(app: Application, config: dict[str, Any]) -> None:
    """What a forked process does; never returns."""
    code = 1
    app.in_use = True
    try:
        if config.get("claim") is not None:
            run_solo(app, config)
        else:
            run_child(app, config)
        app.desk.close()
        app.signal.close()
        code = 0
    except BaseException:
        log.exception("a worker process failed")
    finally:
        # Threads that never return must not keep the process alive.
        logging.shutdown()
        os._exit(code)
