"""Holdfast as its users run it: `app.job`, and `holdfast worker` in processes of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from holdfast import App
from holdfast.cli.measures import application

if TYPE_CHECKING:
    from pathlib import Path


class Ours:
    """A queue at an address; the folder is for what a measurement writes beside it."""

    bulk = True
    several = True

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url

    def open(self) -> None:
        """Make the tables, or join the ones that are there. What follows needs it."""
        self.app = App(self.url, signal="store")
        self.app.desk.store.migrate()
        self.job: Any = self.app.job(type=application.job.definition.type)(application.job.definition.function)

    def close(self) -> None:
        """Let go of the database."""
        self.app.close()

    def enqueue(self, payload: dict[str, Any]) -> None:
        """One job, durable."""
        self.job.enqueue(**payload)

    def enqueue_many(self, payloads: list[dict[str, Any]]) -> None:
        """Many in one transaction."""
        self.app.enqueue_many([self.job.call(**payload) for payload in payloads])

    def settle(self) -> None:
        """Nothing that a store on SQLite would do."""

    def commands(self, workers: int) -> list[list[str]]:
        """One worker with so many processes."""
        start = [sys.executable, "-m", "holdfast.cli", "worker", f"{application.__name__}:app"]
        return [[*start, "--url", self.url, "--processes", str(workers)]]

    def remaining(self) -> int:
        """Jobs that wait or run."""
        lines = self.app.statistics()["lines"]
        return sum(int(line["waiting"]) + int(line["running"]) for line in lines)
