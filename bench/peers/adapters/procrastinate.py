"""Procrastinate with ten jobs at a time on one event loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import procrastinate

from bench.peers.adapter import run
from bench.peers.server import Coroutines


class Peer(Coroutines):
    words = "concurrency 10, LISTEN, finished jobs kept"
    bulk = True
    waiting = "select count(*) from procrastinate_jobs where status in ('todo', 'doing')"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.app = procrastinate.App(
            connector=procrastinate.PsycopgConnector(conninfo=self.url, min_size=1, max_size=12)
        )

        async def job(payload: dict[str, Any]) -> None:
            run(payload["t"])

        self.job = self.app.task(name="job")(job)

    async def connect(self) -> None:
        await self.app.open_async()
        await self.app.schema_manager.apply_schema_async()

    async def put(self, payload: dict[str, Any]) -> None:
        await self.job.defer_async(payload=payload)

    async def put_many(self, payloads: list[dict[str, Any]]) -> None:
        await self.job.batch_defer_async(*[{"payload": payload} for payload in payloads])

    async def work(self) -> None:
        async with self.app.open_async():
            await self.app.run_worker_async(concurrency=10)
