"""What all verbs stand on: the open transaction, its instant, its queries."""

from __future__ import annotations

import json

from holdfast.model import stamp
from holdfast.model.news import News

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from holdfast.model.job import Job
    from holdfast.store.sql import Queries
    from holdfast.store.sqlite.connection import Connection


class Verbs:
    """An open transaction at one instant, read after the write lock was taken."""

    __slots__ = ("_space", "connection", "news", "now", "queries", "stamp")

    def __init__(self, connection: Connection, queries: Queries, now: int, space: Callable[[int], None]) -> None:
        self.connection = connection
        self.queries = queries
        self.now = now
        self.stamp = stamp.to_text(now)
        self.news = News()
        self._space = space

    def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        return self.connection.execute(self.queries[query], parameters)

    def change(self, query: str, **parameters: object) -> int:
        return self.connection.change(self.queries[query], parameters)

    def execute(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """Run a statement of the caller's own, in this transaction."""
        from holdfast.store.sqlite.statements import check_statement  # noqa: PLC0415  # a cold hook sends none

        check_statement(sql)
        return self.connection.execute(sql, parameters)

    def check_space(self, needed: int) -> None:
        """Refuse new work of so many bytes on a nearly full disk, so that what runs can still be finished."""
        self._space(needed)

    def ids(self, ids: Sequence[str]) -> str:
        """Ids as one parameter; ids hold nothing that JSON would escape."""
        return json.dumps(ids)

    def job(self, row: tuple[Any, ...]) -> Job:
        from holdfast.store.rows import job_of  # noqa: PLC0415  # heavier than a cold hook can afford

        return job_of(row)

    def line(
        self,
        job_id: str,
        from_status: str,
        why: str,
        attempt: int,
        *,
        worker: str | None = None,
        error_class: str | None = None,
        actor: str | None = None,
    ) -> dict[str, object]:
        """A line of history, to be written."""
        return {
            "id": job_id,
            "now": self.stamp,
            "from_status": from_status,
            "why": why,
            "attempt": attempt,
            "worker": worker,
            "error_class": error_class,
            "actor": actor,
        }

    def write_history(self, lines: Iterable[dict[str, object]]) -> None:
        for line in lines:
            self.run("history", **line)
            self.run("history_trim", id=line["id"])
