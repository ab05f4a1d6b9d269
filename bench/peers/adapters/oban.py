"""Oban with a limit of 100 jobs at a time (its pages show 10)."""

from __future__ import annotations

import asyncio
from typing import Any

from oban import Oban, worker
from oban.schema import install_sql

from bench.peers.adapter import run
from bench.peers.server import Coroutines, execute


@worker(queue="default")
class Note:
    async def process(self, found: Any) -> None:
        run(found.args["t"])


class Peer(Coroutines):
    words = "limit 100, LISTEN, finished jobs kept"
    bulk = True
    waiting = "select count(*) from oban_jobs where state in ('available', 'executing')"

    async def connect(self) -> None:
        execute(self.url, install_sql())
        self.oban = Oban(pool=await Oban.create_pool(self.url))
        await self.oban.start()

    async def put(self, payload: dict[str, Any]) -> None:
        await Note.enqueue(payload)

    async def put_many(self, payloads: list[dict[str, Any]]) -> None:
        await self.oban.enqueue_many([Note.new(payload) for payload in payloads])

    async def work(self) -> None:
        async with Oban(pool=await Oban.create_pool(self.url), queues={"default": 100}):
            await asyncio.Event().wait()
