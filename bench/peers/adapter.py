"""A peer, as the trials want a queue to be. Imported in the peers' own environments: nothing but the standard library,
and of Holdfast only what needs no more than that.
"""

from __future__ import annotations

import importlib
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

from holdfast.cli.measures import ruler

CHUNK = 10_000
DATABASE = "BENCH_DATABASE"  # names the URL of a peer's database to all its processes


class Adapter:
    """One queue. `folder` is private to one measurement."""

    name = ""  # of the module, for the worker processes
    words = ""  # how it is set up
    bulk = False  # it has a bulk call of its own
    several = True  # two worker processes may share a queue
    table = ""  # for growth: its table of jobs, empty if it has none that can be copied by SQL
    fresh: dict[str, str] = {}  # noqa: RUF012  # columns of a copied row that must differ, as SQL

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "queue.db"

    @property
    def grows(self) -> bool:
        return bool(self.table) or self.bulk

    def open(self) -> None:
        """Make the queue, or join the one that is there."""
        raise NotImplementedError

    def enqueue(self, payload: dict[str, Any]) -> None:
        """One job, as durable as the queue makes it."""
        raise NotImplementedError

    def enqueue_many(self, payloads: list[dict[str, Any]]) -> None:
        """Many at once; without a bulk call of its own, one by one."""
        for payload in payloads:
            self.enqueue(payload)

    def grow(self, rows: int) -> None:
        """Put so many more waiting jobs into the queue: by copies of the one that is there, else by its bulk call."""
        if not self.table:
            for start in range(0, rows, CHUNK):
                self.enqueue_many([ruler.payload() for _ in range(min(CHUNK, rows - start))])
            return
        with sqlite3.connect(self.path) as connection:
            names = [name for (name,) in connection.execute("select name from pragma_table_info(?)", [self.table])]
            names = [name for name in names if name != "id"]
            picked = ", ".join(self.fresh.get(name, f'one."{name}"') for name in names)
            quoted = ", ".join(f'"{name}"' for name in names)
            connection.execute(
                f"with recursive g (i) as (select 1 union all select i + 1 from g where i < {rows}) "
                f'insert into "{self.table}" ({quoted}) select {picked} '
                f'from (select * from "{self.table}" limit 1) one, g'
            )
        connection.close()

    def settle(self) -> None:
        """Do now what the database would soon do by itself after so great a change."""

    def work(self) -> Any:
        """In a worker process: run jobs with `run` until the process is ended. May be a coroutine."""
        raise NotImplementedError

    def commands(self, workers: int) -> list[list[str]]:
        """What to start for so many worker processes."""
        return [[sys.executable, "-m", "bench.peers.serve", self.name, str(self.folder)]] * workers

    def remaining(self) -> int | None:
        """Jobs that are not durably complete; None if the queue cannot tell."""
        return None


def run(enqueued: int) -> None:
    """The job: a line in the record. One that must never return waits to be killed."""
    if ruler.note(enqueued):
        time.sleep(3_600)


def load(name: str, folder: Path) -> Any:
    """The queue of the adapter `name`, not opened yet."""
    peer = importlib.import_module(f"bench.peers.adapters.{name}").Peer(folder)
    peer.name = name
    return peer
