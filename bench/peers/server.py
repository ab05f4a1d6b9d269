"""What peers on a PostgreSQL server have in common. Imported in their own environments, which have psycopg for this."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import psycopg

from bench.peers.adapter import DATABASE, Adapter
from holdfast.cli.measures import ruler
from holdfast.cli.measures.rounds import Sample

WARM_UP = 50


def execute(url: str, query: str) -> list[tuple[Any, ...]]:
    """Run statements on a connection of their own."""
    with psycopg.connect(url, autocommit=True) as connection:
        answer = connection.execute(query)
        return answer.fetchall() if answer.description else []


def settle(url: str) -> None:
    """What autovacuum would soon do by itself; done now, it does not fall into one side's turn by chance."""
    execute(url, "vacuum analyze")
    execute(url, "checkpoint")


class OnServer(Adapter):
    """A queue in a database of its own."""

    waiting = ""  # counts the jobs that are not durably complete

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.url = os.environ[DATABASE]

    def settle(self) -> None:
        settle(self.url)

    def remaining(self) -> int | None:
        return execute(self.url, self.waiting)[0][0] if self.waiting else None


class Coroutines(OnServer):
    """A queue whose client is made of coroutines. Where they are called one by one, each has to enter a loop; what is
    timed by the thousand is therefore one coroutine.
    """

    def open(self) -> None:
        self._runner = asyncio.Runner()
        self._runner.run(self.connect())

    def enqueue(self, payload: dict[str, Any]) -> None:
        self._runner.run(self.put(payload))

    def enqueue_many(self, payloads: list[dict[str, Any]]) -> None:
        self._runner.run(self.put_many(payloads))

    def one_at_a_time(self, jobs: int) -> Sample:
        return self._runner.run(self._one_at_a_time(jobs))

    async def connect(self) -> None:
        """Make the queue and its client."""
        raise NotImplementedError

    async def put(self, payload: dict[str, Any]) -> None:
        """One job."""
        raise NotImplementedError

    async def put_many(self, payloads: list[dict[str, Any]]) -> None:
        """Many, by its bulk call."""
        raise NotImplementedError

    async def _one_at_a_time(self, jobs: int) -> Sample:
        for _ in range(min(WARM_UP, jobs)):
            await self.put(ruler.payload())
        begin = time.perf_counter()
        for _ in range(jobs):
            await self.put(ruler.payload())
        return Sample(jobs / (time.perf_counter() - begin))
