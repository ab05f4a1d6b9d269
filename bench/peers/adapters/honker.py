"""honker on SQLite: its batch calls in a loop of ours, woken by its own watcher."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Any

import honker

from bench.peers.adapter import Adapter, run


class Peer(Adapter):
    words = "synchronous=NORMAL (its default), own loop: claim_batch(100), ack_batch, its watcher of 1 ms"
    bulk = True

    def open(self) -> None:
        self.database = honker.open(str(self.path))
        self.queue = self.database.queue("bench")

    def enqueue(self, payload: dict[str, Any]) -> None:
        self.queue.enqueue(payload)

    def enqueue_many(self, payloads: list[dict[str, Any]]) -> None:
        with self.database.transaction() as transaction:  # its documented form of a bulk call
            for payload in payloads:
                self.queue.enqueue(payload, tx=transaction)

    async def work(self) -> None:
        self.open()
        me = f"worker-{os.getpid()}"
        events = self.database.update_events()
        while True:
            jobs = self.queue.claim_batch(me, 100)
            if not jobs:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(events.__anext__(), 5)
                continue
            for job in jobs:
                run(job.payload["t"])
            self.queue.ack_batch([job.id for job in jobs], me)

    def remaining(self) -> int:
        return self.database.query("select count(*) n from _honker_live")[0]["n"]
