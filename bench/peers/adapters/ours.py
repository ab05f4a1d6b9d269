"""Holdfast as its users run it: `holdfast worker module:app`, coroutine handler, typed payload, default settings."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from bench import growth
from bench.peers.adapter import Adapter, note, payload
from holdfast import App

ADDRESS = "BENCH_HOLDFAST_URL"
app = App(os.environ.get(ADDRESS))


@app.job(type="thumbnail")  # the type that growth fills in
async def job(t: int, user_id: int, action: str, tags: list[str], body: str) -> None:
    """The job: its arguments are checked, at the enqueue and before the run."""
    del user_id, action, tags, body
    note(t)


class Peer(Adapter):
    words = "synchronous=FULL, default settings, coroutine, typed payload"
    bulk = True
    table = "job_queue"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        os.environ[ADDRESS] = f"sqlite:///{self.path}"  # for the worker

    def open(self) -> None:
        self.app = App(os.environ[ADDRESS])
        self.job = self.app.job(type="thumbnail")(job.definition.function)

    def enqueue(self, payload: dict[str, Any]) -> None:
        self.job.enqueue(**payload)

    def enqueue_many(self, payloads: list[dict[str, Any]]) -> None:
        self.app.enqueue_many([self.job.call(**payload) for payload in payloads])

    def grow(self, rows: int) -> None:
        self.app.close()
        growth.fill(self.path, "queued", rows, json.dumps(payload()))
        self.open()

    def commands(self, name: str, workers: int) -> list[list[str]]:
        del name
        start = "import sys; from holdfast.cli import main; sys.exit(main())"
        return [[sys.executable, "-c", start, "worker", f"{__name__}:app", "--processes", str(workers)]]

    def remaining(self) -> int:
        return sum(line["waiting"] + line["running"] for line in self.app.statistics()["lines"])
