"""What a queue must be able to do to be measured, and the job that all of them run.

Imported in the peers' own environments: nothing but the standard library.
"""

from __future__ import annotations

import importlib
import os
import sqlite3
import struct
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

RECORD = struct.Struct("<qqq")  # when it was enqueued, when its handler began, in which process


class Adapter:
    """One queue. `folder` is private to one measurement."""

    words = ""  # how it is set up
    bulk = False  # it has a bulk call of its own
    several = True  # two worker processes may share a queue
    table = ""  # for growth: its table of jobs, empty if it has none that can be copied by SQL
    fresh: dict[str, str] = {}  # noqa: RUF012  # columns of a copied row that must differ, as SQL

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "queue.db"

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
        """Put so many more waiting jobs into the queue, by copies of the one that is there."""
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

    def work(self) -> Any:
        """In a worker process: run jobs with `note` until the process is ended. May be a coroutine."""
        raise NotImplementedError

    def commands(self, name: str, workers: int) -> list[list[str]]:
        """What to start for so many worker processes."""
        return [[sys.executable, "-m", "bench.peers.serve", name, str(self.folder)]] * workers

    def remaining(self) -> int | None:
        """Jobs that are not durably complete; None if the queue cannot tell."""
        return None


def payload() -> dict[str, Any]:
    """About 200 bytes of JSON with the time in it."""
    return {
        "t": time.time_ns(),
        "user_id": 123456,
        "action": "send_welcome_mail",
        "tags": ["a", "b", "c"],
        "body": "x" * 100,
    }


def note(enqueued: int) -> None:
    """The job: add a line to the shared record. Appends are whole, over processes and threads."""
    os.write(_record(), RECORD.pack(enqueued, time.time_ns(), os.getpid()))


@cache
def _record() -> int:
    return os.open(os.environ["BENCH_RECORD"], os.O_WRONLY | os.O_APPEND)


def load(name: str, folder: Path) -> Adapter:
    """The adapter `name`; what follows a colon is its variant."""
    module, _, variant = name.partition(":")
    peer = importlib.import_module(f"bench.peers.adapters.{module}").Peer(folder)
    peer.variant = variant
    return peer
