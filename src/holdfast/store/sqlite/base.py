"""What all verbs stand on: the open transaction, its instant, its queries."""

from __future__ import annotations

import json

from holdfast.model import stamp
from holdfast.model.news import News
from holdfast.store.flow import FlowVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from holdfast.store.newest import Key
    from holdfast.store.sql import Queries
    from holdfast.store.sqlite.connection import Connection
    from holdfast.store.verbs import Line

_HARMLESS = ("select ", "insert ", "update ", "delete ", "pragma ")  # one statement that begins so ends no transaction


class Verbs(FlowVerbs):
    """An open transaction at one instant, read after the write lock was taken."""

    __slots__ = ("connection", "news", "now", "queries", "space", "stamp")
    ever = ""

    def __init__(self, connection: Connection, queries: Queries, now: int, space: Callable[[int], None]) -> None:
        self.connection = connection
        self.queries = queries
        self.now = now
        self.stamp = stamp.to_text(now)
        self.news = News()
        self.stirred = False
        self.space = space

    def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        return self.connection.execute(self.queries[query], parameters)

    def change(self, query: str, **parameters: object) -> int:
        return self.connection.change(self.queries[query], parameters)

    def execute(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """Run a statement of the caller's own, in this transaction."""
        if not (sql.__class__ is str and sql.startswith(_HARMLESS) and ";" not in sql):
            from holdfast.store.statements import check_statement  # noqa: PLC0415  # too slow for a cold hook

            check_statement(sql)
        return self.connection.execute(sql, parameters)

    def lock_keys(self, keys: Sequence[Key]) -> None:
        """Whoever writes is alone as it is."""

    def keep_still(self, what: str, tenant: str, group: str | None) -> None:
        """Whoever writes is alone as it is."""

    def keep_uncancelled(self, tenant: str, group: str) -> None:
        """Whoever writes is alone as it is."""

    def lock_limits(self) -> bool:
        return True

    def stir(self) -> None:
        """See whether there are lines to look at now."""
        self.next_look()

    def heads(self, wanted: Sequence[tuple[str, int]]) -> list[tuple[Any, ...]]:
        """The first of some lines that are due, so many of each, best first."""
        found: list[tuple[Any, ...]] = []
        for key, most in wanted:
            rest = most
            for (priority,) in self.run("lane_priorities", key=key):
                line = self.run("lane_heads", key=key, priority=priority, now=self.stamp, limit=rest)
                found += line
                rest -= len(line)
                if not rest:
                    break
        return found

    def check_space(self, needed: int) -> None:
        """Refuse new work of so many bytes on a nearly full disk, so that what runs can still be finished."""
        self.space(needed)

    def all_or_none(self) -> AllOrNone:
        """A block that is undone as a whole if it raises, even if the transaction goes on."""
        return AllOrNone(self.connection)

    def anyway(self) -> Anyway:
        """A block in which new jobs are let in even on a nearly full disk: they belong to the ends of runs, for which
        that space is kept.
        """
        return Anyway(self)

    def with_children(self, ids: Sequence[str]) -> Sequence[str]:
        """Those of some jobs that others may wait for."""
        return ids if self.run("parents_any")[0][0] else ()

    def free_active_keys(self, ids: Sequence[str]) -> None:
        """These have ended: keys that were kept for their active life only are free."""
        for job_id in ids:
            self.change("free_active_key", id=job_id)

    def ids(self, ids: Sequence[str]) -> str:
        """Ids as one parameter; ids hold nothing that JSON would escape."""
        return json.dumps(ids)

    def write_history(self, lines: Sequence[Line]) -> None:
        for line in lines:
            self.run(
                "history",
                id=line.job_id,
                now=self.stamp,
                from_status=line.from_status,
                why=line.why,
                attempt=line.attempt,
                worker=line.worker,
                error_class=line.error_class,
                actor=line.actor,
            )
            self.run("history_trim", id=line.job_id)


class AllOrNone:
    """A savepoint as a block; the cold path does without `contextlib`."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.save()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._connection.release()
        else:
            self._connection.back_to_save()


class Anyway:
    """A block in which nobody asks how much space is left."""

    __slots__ = ("_here", "_space")

    def __init__(self, here: Verbs) -> None:
        self._here = here

    def __enter__(self) -> None:
        self._space, self._here.space = self._here.space, _enough

    def __exit__(self, *_: object) -> None:
        self._here.space = self._space


def _enough(_: int) -> None:
    """There is room for the end of a run."""
