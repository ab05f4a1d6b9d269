"""persist-queue's SQLiteAckQueue has no worker, and its pop is not safe over processes."""

from __future__ import annotations

import time
from typing import Any

from persistqueue import SQLiteAckQueue
from persistqueue.exceptions import Empty
from persistqueue.serializers import json

from bench.peers.adapter import Adapter, run


class Peer(Adapter):
    words = "synchronous=FULL, own loop, 10 ms sleep when empty"
    several = False

    def open(self) -> None:
        self.queue = SQLiteAckQueue(str(self.folder / "queue"), multithreading=True, serializer=json)

    def enqueue(self, payload: dict[str, Any]) -> None:
        self.queue.put(payload)

    def work(self) -> None:
        self.open()
        while True:
            try:
                message = self.queue.get(block=False, raw=True)
            except Empty:
                time.sleep(0.01)
                continue
            run(message["data"]["t"])
            self.queue.ack(id=message["pqid"])
