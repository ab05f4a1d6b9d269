"""What all verbs stand on: the open transaction, its instant, its queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.model import stamp
from holdfast.model.news import News
from holdfast.store.rows import job_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.model.job import Job
    from holdfast.store.postgres.connection import Connection
    from holdfast.store.sql import Queries


class Line(NamedTuple):
    """A line of history, to be written."""

    job_id: str
    from_status: str
    why: str
    attempt: int
    worker: str | None = None
    error_class: str | None = None
    actor: str | None = None


class Verbs:
    """An open transaction at one instant, read from the database when it began."""

    __slots__ = ("connection", "news", "now", "queries", "stamp")

    def __init__(self, connection: Connection, queries: Queries, now: int) -> None:
        self.connection = connection
        self.queries = queries
        self.now = now
        self.stamp = stamp.to_text(now)
        self.news = News()

    def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        return self.connection.run(self.queries[query], parameters)

    def change(self, query: str, **parameters: object) -> int:
        return self.connection.change(self.queries[query], parameters)

    def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        """Run a statement of the caller's own, in this transaction."""
        return self.connection.execute(sql, parameters)

    def job(self, row: tuple[Any, ...]) -> Job:
        return job_of(row)

    def write_history(self, lines: Sequence[Line]) -> None:
        if not lines:
            return
        ids, from_statuses, whys, attempts, workers, error_classes, actors = map(array, zip(*lines, strict=True))
        self.run(
            "history",
            now=self.stamp,
            ids=ids,
            from_statuses=from_statuses,
            whys=whys,
            attempts=attempts,
            workers=workers,
            error_classes=error_classes,
            actors=actors,
        )
        self.run("history_trim", ids=ids)


def array(values: Iterable[object]) -> str:
    """An array as one parameter: several times quicker to write than the driver's own way, which looks at each type."""
    return "{" + ",".join(["null" if value is None else f'"{_escaped(str(value))}"' for value in values]) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
