"""What all verbs stand on: the open transaction, its instant, its queries."""

from __future__ import annotations

import json
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp
from holdfast.model.news import News
from holdfast.store.flow import FlowVerbs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.store.newest import Key
    from holdfast.store.postgres.connection import Connection
    from holdfast.store.sql import Queries
    from holdfast.store.verbs import Line


class Verbs(FlowVerbs):
    """An open transaction at one instant, read from the database when it began."""

    __slots__ = ("connection", "news", "now", "queries", "stamp", "witness")
    ever = "-infinity"

    def __init__(self, connection: Connection, queries: Queries, now: int) -> None:
        self.connection = connection
        self.queries = queries
        self.now = now
        self.stamp = stamp.to_text(now)
        self.news = News()
        self.stirred = False
        self.witness = ""  # a job made here: if it is there, the transaction was committed

    def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        return self.connection.run(self.queries[query], parameters)

    def change(self, query: str, **parameters: object) -> int:
        return self.connection.change(self.queries[query], parameters)

    def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        """Run a statement of the caller's own, in this transaction."""
        return self.connection.execute(sql, parameters)

    def lock_keys(self, keys: Sequence[Key]) -> None:
        """Until the transaction ends. Whoever locks several does so in their order."""
        if keys:
            tenants, types, names = map(array, zip(*keys, strict=True))
            self.run("newest_lock", tenants=tenants, types=types, keys=names)

    def lock_limits(self) -> bool:
        return bool(self.run("limits_lock")[0][0])

    def stir(self) -> None:
        """See whether there are lines to look at now, if there were any of late: a claim tells, too."""
        if self.queries.kept.get("lines", 0.0) > monotonic():
            self.next_look()

    def heads(self, wanted: Sequence[tuple[str, int]]) -> list[tuple[Any, ...]]:
        """The first of some lines that are due, so many of each, best first."""
        return self.run("lane_heads", wanted=json.dumps(wanted), now=self.stamp)

    def write_history(self, lines: Sequence[Line]) -> None:
        if not lines:
            return
        ids = array(line.job_id for line in lines)
        self.run(
            "history",
            now=self.stamp,
            ids=ids,
            from_statuses=array(line.from_status for line in lines),
            whys=array(line.why for line in lines),
            attempts=array(line.attempt for line in lines),
            workers=array(line.worker for line in lines),
            error_classes=array(line.error_class for line in lines),
            actors=array(line.actor for line in lines),
        )
        self.run("history_trim", ids=ids)


def read_file(name: str) -> bytes:
    """A file of this folder, for `Queries`."""
    return (files("holdfast.store.postgres") / name).read_bytes()


def array(values: Iterable[object]) -> str:
    """An array as one parameter: several times quicker to write than the driver's own way, which looks at each type."""
    return "{" + ",".join(["null" if value is None else f'"{_escaped(str(value))}"' for value in values]) + "}"


def numbers(values: Iterable[int]) -> str:
    """The same for whole numbers, which need no quotes."""
    return "{" + ",".join(map(str, values)) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"') if '"' in text or "\\" in text else text
