"""FlexiQ (a Rust core) on PostgreSQL with the best settings found for it, and a coroutine as handler."""

from __future__ import annotations

import os
from typing import Any

from flexiq import Queue

from bench.peers.adapter import run
from bench.peers.server import OnServer


class Peer(OnServer):
    words = "100 threads, batch 100, poll 2 ms, coroutine"
    bulk = True

    def open(self) -> None:
        self.queue = Queue(
            backend="postgres",
            db_url=self.url,
            workers=100,
            scheduler_batch_size=100,
            scheduler_poll_interval_ms=2,
            push_dispatch=False,
        )

        async def job(payload: dict[str, Any]) -> None:
            run(payload["t"])

        self.job = self.queue.task(name="job")(job)

    def enqueue(self, payload: dict[str, Any]) -> None:
        self.job.delay(payload)

    def enqueue_many(self, payloads: list[dict[str, Any]]) -> None:
        self.queue.enqueue_many("job", [(payload,) for payload in payloads])

    def work(self) -> None:
        os.environ["FLEXIQ_LOG_LEVEL"] = "WARNING"  # by default it logs two lines a job
        self.open()
        self.queue.run_worker()

    def remaining(self) -> int:
        counts = self.queue.stats()
        return counts["pending"] + counts["running"]
