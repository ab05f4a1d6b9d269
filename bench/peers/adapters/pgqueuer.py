"""PgQueuer on asyncpg with a batch of 100 (its own default is 10); it deletes finished jobs."""

from __future__ import annotations

import json
from typing import Any

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

from bench.peers.adapter import run
from bench.peers.server import Coroutines


class Peer(Coroutines):
    words = "asyncpg, batch 100, LISTEN, finished jobs deleted"
    bulk = True
    waiting = "select count(*) from pgqueuer"

    async def connect(self) -> None:
        self.queries = Queries(AsyncpgDriver(await asyncpg.connect(self.url)))
        await self.queries.install()

    async def put(self, payload: dict[str, Any]) -> None:
        await self.queries.enqueue("job", json.dumps(payload).encode())

    async def put_many(self, payloads: list[dict[str, Any]]) -> None:
        count = len(payloads)
        texts = [json.dumps(payload).encode() for payload in payloads]
        await self.queries.enqueue(["job"] * count, texts, [0] * count)

    async def work(self) -> None:
        queue = PgQueuer.from_asyncpg_connection(await asyncpg.connect(self.url))

        @queue.entrypoint("job")
        async def job(found: Any) -> None:
            run(json.loads(found.payload)["t"])

        await queue.run(batch_size=100)
