"""What a commit changed, for those who wait: which queues have new work, and which jobs look different."""

from __future__ import annotations


class News:
    """Collected inside a transaction, told after its commit."""

    __slots__ = ("jobs", "queues")

    def __init__(self) -> None:
        self.queues: set[str] = set()
        self.jobs: list[str] = []

    @classmethod
    def of_everything(cls) -> News:
        """Anything may have changed: a reason to look at all."""
        news = cls()
        news.queues.add("*")
        news.jobs.append("*")
        return news

    def __bool__(self) -> bool:
        return bool(self.queues or self.jobs)
