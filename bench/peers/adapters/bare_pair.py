"""No queue at all: one process inserts and sends a datagram, the other updates and runs. What the machine allows."""

from __future__ import annotations

import json
import socket
import sqlite3
from typing import Any

from bench.peers.adapter import Adapter, run

TAKE = """
update job set status = 1 where id = (select id from job indexed by waiting where status = 0 order by id limit 1)
returning id, payload
"""


class Peer(Adapter):
    words = "synchronous=FULL but for the claim, as ours; no leases, retries or checks"

    def open(self) -> None:
        self.connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        self.connection.execute("pragma journal_mode=wal")
        self.connection.execute("pragma synchronous=full")
        self.connection.execute("create table if not exists job (id integer primary key, payload, status default 0)")
        self.connection.execute("create index if not exists waiting on job (id) where status = 0")
        self.ear = str(self.folder / "ear")
        self.voice = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def enqueue(self, payload: dict[str, Any]) -> None:
        self.connection.execute("insert into job (payload) values (?)", (json.dumps(payload),))
        try:
            self.voice.sendto(b"!", self.ear)
        except OSError:  # the worker has not begun to listen
            return

    def work(self) -> None:
        self.open()
        self.voice.bind(self.ear)
        while True:
            self.connection.execute("pragma synchronous=normal")
            taken = self.connection.execute(TAKE).fetchall()
            self.connection.execute("pragma synchronous=full")
            for number, payload in taken:
                run(json.loads(payload)["t"])
                self.connection.execute("update job set status = 2 where id = ?", (number,))
            if not taken:
                self.voice.recv(64)
