"""Holdfast as its users run it: `holdfast worker module:app`, coroutine handler, typed payload, default settings."""

from __future__ import annotations

import json
import os
from pathlib import Path

from bench import growth
from holdfast.cli.measures.ours import Ours
from holdfast.cli.measures.ruler import payload


class Peer(Ours):
    words = "synchronous=FULL, default settings, coroutine, typed payload"
    grows = True

    def __init__(self, folder: Path) -> None:
        self.path = folder / "jobs.db"
        # For a comparison on equal terms: BENCH_OURS='?synchronous=normal', which is what most peers do.
        super().__init__(folder, f"sqlite:///{self.path}{os.environ.get('BENCH_OURS', '')}")

    def grow(self, rows: int) -> None:
        self.close()
        growth.fill(self.path, "queued", rows, json.dumps(payload()))
        self.open()
