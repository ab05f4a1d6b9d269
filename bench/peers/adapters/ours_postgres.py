"""Holdfast as its users run it: `holdfast worker module:app`, coroutine handler, typed payload, default settings."""

from __future__ import annotations

import json
import os
from pathlib import Path

from bench.peers.adapter import DATABASE
from bench.peers.server import settle
from bench.postgres import growth
from holdfast.cli.measures.ours import Ours
from holdfast.cli.measures.ruler import payload


class Peer(Ours):
    words = "synchronous_commit on, default settings, coroutine, typed payload, finished jobs kept"
    grows = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, os.environ[DATABASE])

    def grow(self, rows: int) -> None:
        growth.fill(self.url, "queued", rows, json.dumps(payload()))

    def settle(self) -> None:
        settle(self.url)
