"""A worker inside the application's own process: for tests and small services.

Renewal runs in a thread here, so a handler that holds the interpreter for a whole lease can lose it, and a handler that
kills the process takes the application along. `holdfast worker` has neither weakness.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import tempfile
import threading
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.engine import leases, repairs, schedules
from holdfast.signals.message import EVERYTHING
from holdfast.worker import slots as slot_words
from holdfast.worker.application import Application
from holdfast.worker.child import COROUTINES, THREADS, listen, pools_of, slots_needed, together
from holdfast.worker.places import MOST_READY
from holdfast.worker.slots import SlotMap
from holdfast.worker.standstill import Standstill
from holdfast.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from holdfast.model.news import News
    from holdfast.store.port import Transaction

log = logging.getLogger("holdfast.worker")

_LONG_LEASE_MS = 60_000
_LONGEST_REST = 30.0
_SHORTEST_TICK, _LONGEST_TICK = 0.05, 5.0


@asynccontextmanager
async def worker_inside(
    app: Application,
    *,
    queues: Mapping[str, int | None] | None = None,
    coroutines: int = COROUTINES,
    threads: int = THREADS,
    prefetch: int = MOST_READY,
    stop_seconds: float = 25.0,
) -> AsyncIterator[Worker]:
    """Work while the block lasts; at its end what runs may finish, within `stop_seconds`."""
    log.info("a worker inside the application: leases are renewed by a thread, which a handler can starve")
    if left := [one.type for one in app.registry if one.isolation is not None]:
        log.warning(
            "left waiting, because they need processes of their own: %s; run `holdfast worker`", ", ".join(left)
        )
    config: dict[str, Any] = {"queues": queues, "coroutines": coroutines, "threads": threads, "prefetch": prefetch}
    owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        slots = SlotMap(f"{folder}/slots", slots_needed(config, together(app.registry)))
        pools = pools_of(app.registry, config)
        worker = Worker(
            app.desk, app.registry, pools, owner=owner, slots=slots, threads=max(1, sum(p.places for p in pools))
        )
        worker.said = dict(app.said)
        keeper = _Keeper(app, owner, slots)
        app.desk.listeners.append(wake := lambda news: worker.wake() if news.queues else None)
        app.desk.listeners.append(hear := keeper.hear)
        listener = listen(app, owner, asyncio.get_running_loop(), worker)
        keeper.start()
        app.in_use = True
        task = asyncio.create_task(worker.work())
        try:
            yield worker
        finally:
            worker.drain(stop_seconds)
            await task
            app.in_use = False
            app.desk.listeners.remove(wake)
            app.desk.listeners.remove(hear)
            await asyncio.to_thread(keeper.end)
            asyncio.get_running_loop().remove_reader(listener.fileno())
            listener.close()


class _Keeper(threading.Thread):
    """Renews what runs here, recovers what expired anywhere, and ticks schedules."""

    def __init__(self, app: Application, owner: str, slots: SlotMap) -> None:
        super().__init__(name="holdfast-keeper", daemon=True)
        self._desk = app.desk
        self._policies = app.registry.policies()
        self._plans = dict(app.declared)
        self._owner = owner
        self._slots = slots
        self._standstill = Standstill(owner, slots)
        self._coroutines = frozenset(one.type for one in app.registry if one.is_coroutine)
        self._tick_at = 0.0
        self._over = threading.Event()
        self._lease_ms = min((policy.lease_ms for policy in self._policies.values()), default=60_000)

    def end(self) -> None:
        """Stop, and wait for it."""
        self._over.set()
        self.join()

    def hear(self, news: News) -> None:
        """What this process itself has changed; what others do is seen within seconds."""
        if EVERYTHING in news.queues:
            self._tick_at = 0.0

    def run(self) -> None:
        """Look again and again."""
        expiry = 0.0
        while not self._over.wait(min(1.0, self._lease_ms / 6000, max(_SHORTEST_TICK, self._tick_at - monotonic()))):
            try:
                if self._slots.started() or self._slots.holds():
                    self._look()
                if monotonic() >= expiry:
                    expiry = monotonic() + self._desk.write(self._recover)
                if monotonic() >= self._tick_at:
                    self._tick()
            except Exception as error:  # noqa: BLE001  # the store may be away; the next look may fare better
                log.warning("a look at the leases failed: %s", error)

    def _tick(self) -> None:
        self._tick_at = monotonic() + _LONGEST_TICK
        if self._plans:
            self._desk.write(schedules.declare, self._plans)
            self._plans = {}
        _, rest = schedules.tick_all(self._desk)
        self._tick_at = min(self._tick_at, monotonic() + rest)

    def _recover(self, tx: Transaction) -> float:
        """End what expired; answers when to come again: for long leases, not before one can have ended."""
        repairs.recover_expired(tx, self._policies)
        if self._lease_ms < _LONG_LEASE_MS:
            return 0.0
        expiry = repairs.until_expiry(tx)
        return _LONGEST_REST if expiry is None else min(_LONGEST_REST, expiry)

    def _look(self) -> None:
        runs = self._slots.started()
        found, now = self._desk.read(leases.held, self._owner)
        holds = {(hold.id, hold.token): hold for hold in found}
        late = now + self._lease_ms * 2 / 3
        due = []
        for run in runs:
            hold = holds.get((run.id, run.token))
            if hold is None:
                self._slots.command(run, slot_words.STOP)
                continue
            if hold.asked_to_stop:
                self._slots.command(run, slot_words.ASK)
            if hold.until < late:
                due.append((run.id, run.token))
        if due:
            self._desk.write(leases.renew, due, self._lease_ms)
        self._standstill.look(runs, monotonic(), self._desk, self._coroutines)
