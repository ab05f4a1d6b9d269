"""Holdfast as its users run it: `holdfast worker module:app`, coroutine handler, typed payload, default settings."""

from __future__ import annotations

import os
from pathlib import Path

from bench.peers.adapter import DATABASE
from bench.peers.server import settle
from holdfast.cli.measures.ours import Ours


class Peer(Ours):
    words = "synchronous_commit on, default settings, coroutine, typed payload, finished jobs kept"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, os.environ[DATABASE])

    def settle(self) -> None:
        settle(self.url)
