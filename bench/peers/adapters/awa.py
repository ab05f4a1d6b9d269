"""Awa (a Rust core) with its append-only storage, COPY as its bulk call, and a coroutine as handler."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import awa

from bench.peers.adapter import run
from bench.peers.server import Coroutines

QUEUE = "bench"


@dataclass
class Note:
    t: int
    user_id: int
    action: str
    tags: list[str]
    body: str


class Peer(Coroutines):
    words = "256 places, claims of 512, COPY for bulk"
    bulk = True

    async def connect(self) -> None:
        self.client = awa.AsyncClient(self.url)
        await self.client.migrate()
        await self.client.install_queue_storage()

    async def put(self, payload: dict[str, Any]) -> None:
        await self.client.insert(Note(**payload), queue=QUEUE)

    async def put_many(self, payloads: list[dict[str, Any]]) -> None:
        await self.client.enqueue_many_copy([Note(**payload) for payload in payloads], queue=QUEUE)

    async def work(self) -> None:
        client = awa.AsyncClient(self.url, max_connections=10)

        @client.task(Note, queue=QUEUE)
        async def job(found: Any) -> None:
            run(found.args.t)

        await client.start([{"name": QUEUE, "max_workers": 256, "claim_batch_size": 512}])
        await asyncio.Event().wait()

    def remaining(self) -> int:
        counts = self._runner.run(self._counts())
        return sum(count.available + count.running for count in counts)

    async def _counts(self) -> Any:
        return await self.client.queue_stats()
