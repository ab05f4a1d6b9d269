"""Huey on SQLite with fsync: a consumer of one thread. A crash loses the job that runs."""

from __future__ import annotations

from typing import Any

import huey

from bench.peers.adapter import Adapter, run


class Peer(Adapter):
    words = "synchronous=FULL, 1 thread, its own polling; a crash loses the job"
    table = "task"

    def open(self) -> None:
        self.huey = huey.SqliteHuey("bench", filename=str(self.path), fsync=True)
        self.job = self.huey.task(name="job")(lambda payload: run(payload["t"]))

    def enqueue(self, payload: dict[str, Any]) -> None:
        self.job(payload)

    def work(self) -> None:
        self.open()
        self.huey.create_consumer(workers=1, worker_type="thread", periodic=False).run()
