"""Holdfast as its users run it: `app.job`, and `holdfast worker` in processes of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from holdfast import App
from holdfast.cli.measures import application

if TYPE_CHECKING:
    from pathlib import Path


class Ours:
    """A queue in a private folder. `query` is what stands behind the question mark of a store's address."""

    bulk = True
    several = True
    grows = False

    def __init__(self, folder: Path, query: str = "") -> None:
        self.folder = folder
        self.path = folder / "jobs.db"
        self.url = f"sqlite:///{self.path}{'?' if query else ''}{query}"

    def open(self) -> None:
        """Make the tables, or join the ones that are there. What follows needs it."""
        self.app = App(self.url)
        self.app.desk.store.migrate()
        self.job: Any = self.app.job(type=application.job.definition.type)(application.job.definition.function)

    def close(self) -> None:
        """Let go of the file."""
        self.app.close()

    def enqueue(self, payload: dict[str, Any]) -> None:
        """One job, durable."""
        self.job.enqueue(**payload)

    def enqueue_many(self, payloads: list[dict[str, Any]]) -> None:
        """Many in one transaction."""
        self.app.enqueue_many([self.job.call(**payload) for payload in payloads])

    def grow(self, rows: int) -> None:
        """Not by a user's means."""
        raise NotImplementedError

    def commands(self, workers: int) -> list[list[str]]:
        """One worker with so many processes."""
        start = [sys.executable, "-m", "holdfast.cli", "worker", f"{application.__name__}:app"]
        return [[*start, "--url", self.url, "--processes", str(workers)]]

    def remaining(self) -> int:
        """Jobs that wait or run."""
        lines = self.app.statistics()["lines"]
        return sum(int(line["waiting"]) + int(line["running"]) for line in lines)
