"""litequeue has no worker: this loop is the least one."""

from __future__ import annotations

import json
import time
from typing import Any

from litequeue import LiteQueue

from bench.peers.adapter import Adapter, run


class Peer(Adapter):
    words = "synchronous=NORMAL (fixed by it), own loop, 10 ms sleep when empty"
    table = "Queue"
    fresh = {"message_id": "lower(hex(randomblob(16)))"}  # noqa: RUF012

    def open(self) -> None:
        self.queue = LiteQueue(str(self.path), timeout=30)

    def enqueue(self, payload: dict[str, Any]) -> None:
        self.queue.put(json.dumps(payload))

    def work(self) -> None:
        self.open()
        while True:
            message = self.queue.pop()
            if message is None:
                time.sleep(0.01)
                continue
            run(json.loads(message.data)["t"])
            self.queue.done(message.message_id, claim_id=message.claim_id)

    def remaining(self) -> int:
        return self.queue.active_count()
