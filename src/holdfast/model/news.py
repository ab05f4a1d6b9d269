"""What a commit changed, for those who wait: which queues have new work, and which jobs and groups look different."""

from __future__ import annotations


class News:
    """Collected inside a transaction, told after its commit."""

    __slots__ = ("groups", "jobs", "patient", "queues", "told")

    def __init__(self) -> None:
        self.queues: set[str] = set()
        self.jobs: list[str] = []
        self.groups: set[str] = set()  # as `group_mark` writes them
        self.patient = False  # it will hardly wake anybody, so it need not be told at once
        self.told = False  # it went out with the commit

    @classmethod
    def of_everything(cls) -> News:
        """Anything may have changed: a reason to look at all."""
        news = cls()
        news.queues.add("*")
        news.jobs.append("*")
        news.groups.add("*")
        return news

    def of_group(self, tenant: str, group: str | None) -> None:
        """A job of this group looks different; most jobs have none."""
        if group is not None:
            self.groups.add(group_mark(tenant, group))

    def __bool__(self) -> bool:
        return bool(self.queues or self.jobs or self.groups)


def group_mark(tenant: str, group: str) -> str:
    """A group in few letters. Two groups may share it: then one too many is looked at."""
    from zlib import crc32  # noqa: PLC0415  # a library of its own, and most jobs have no group

    name = f"{tenant}\x1f{group}"
    return f"{crc32(name.encode()):08x}"
