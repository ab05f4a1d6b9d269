"""What all verbs stand on: the open transaction, its instant, its queries."""

from __future__ import annotations

import json
from contextlib import nullcontext
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp
from holdfast.model.errors import StoreError
from holdfast.model.news import News
from holdfast.store.flow import FlowVerbs
from holdfast.store.statements import check_statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from holdfast.store.asking import Key, Line
    from holdfast.store.postgres.connection import Connection
    from holdfast.store.sql import Queries


_LOCKED = "55P03"


class Verbs(FlowVerbs):
    """An open transaction at one instant, read from the database when it began."""

    __slots__ = ("childless", "connection", "news", "now", "queries", "stamp", "witness")
    ever = "-infinity"

    def __init__(self, connection: Connection, queries: Queries, now: int) -> None:
        self.connection = connection
        self.queries = queries
        self.now = now
        self.stamp = stamp.to_text(now)
        self.news = News()
        self.childless: set[str] = set()  # jobs that ended here and that nobody waits for
        self.stirred = self.crowded = False
        self.witness = ""  # a job made here: if it is there, the transaction was committed

    def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        return self.connection.run(self.queries[query], parameters)

    def run_again(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        """The same for one that workers send all the time, and that has one possible plan."""
        return self.connection.run_again(self.queries[query], parameters, self.queries["session"])

    def change(self, query: str, **parameters: object) -> int:
        return self.connection.change(self.queries[query], parameters)

    def execute(self, sql: str, parameters: Any = ()) -> list[Any]:
        """Run a statement of the caller's own, in this transaction."""
        if isinstance(sql, str):  # else one that the driver has composed
            check_statement(sql.partition("$")[0])  # what is quoted by dollars is a body of its own
        return self.connection.execute(sql, parameters)

    def all_or_none(self) -> Any:
        """A block that is undone as a whole if it raises, even if the transaction goes on."""
        return self.connection.all_or_none()

    def anyway(self) -> AbstractContextManager[None]:
        """The server's disk is its own affair."""
        return nullcontext()

    def with_children(self, ids: Sequence[str]) -> Sequence[str]:
        """Those of some jobs that others may wait for."""
        return [job_id for job_id in ids if job_id not in self.childless]

    def free_active_keys(self, ids: Sequence[str]) -> None:
        """These have ended: keys that were kept for their active life only are free."""
        if ids:
            self.change("free_active_key", ids=array(ids))

    def ids(self, ids: Sequence[str]) -> str:
        """Ids as one parameter."""
        return array(ids)

    def lock_keys(self, keys: Sequence[Key]) -> None:
        """Until the transaction ends. Whoever locks several does so in their order."""
        if keys:
            tenants, types, names = map(array, zip(*keys, strict=True))
            self.run("newest_lock", tenants=tenants, types=types, keys=names)

    def whose(self, tenant: str) -> str:
        """The tenant of the address where none is named."""
        return tenant or self.connection.location.tenant

    def keep_still(self, what: str, tenant: str, group: str | None) -> None:
        """Until the transaction ends, nobody stores jobs that a pause or a cancel of this tenant or group is about."""
        self.run("pause_patience")
        try:
            self.run(f"{what}_lock", scope=_scope(tenant, group))
        except Exception as error:
            if getattr(error, "sqlstate", None) != _LOCKED:
                raise
            raise StoreError(
                "SCOPE_BUSY", "a transaction that enqueues into it is open: commit or roll it back, then try again"
            ) from error

    def keep_uncancelled(self, tenant: str, group: str) -> None:
        """Until the transaction ends, nobody cancels the group."""
        self.run("cancel_lock_shared", scope=_scope(tenant, group))

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


def _scope(tenant: str, group: str | None) -> str:
    """As `holdfast_held` writes it."""
    return tenant if group is None else f"{tenant}\x1f{group}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"') if '"' in text or "\\" in text else text
