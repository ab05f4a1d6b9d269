"""A transaction as those need it who only enqueue, and how it becomes a whole one.

A cold hook stores one job and ends. What it does not need (leases, limits, groups, batches, schedules, upkeep: a dozen
modules) is loaded when a verb is asked for that is not here.
"""

from __future__ import annotations

from holdfast.model import stamp
from holdfast.model.ids import new_ids
from holdfast.model.news import News
from holdfast.model.request import Alike
from holdfast.store.asking import AskingVerbs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from holdfast.model.request import NewJob
    from holdfast.store.asking import Key, Line
    from holdfast.store.sql import Queries
    from holdfast.store.sqlite.connection import Connection
    from holdfast.store.sqlite.transaction import SqliteTransaction

_HARMLESS = ("select ", "insert ", "update ", "delete ", "pragma ")  # one statement that begins so ends no transaction
ROWS = 50  # of one `insert_alike`

_whole: type[SqliteTransaction] | None = None


class Asking(AskingVerbs):
    """An open transaction at one instant, read after the write lock was taken.

    Every verb here is the same in the whole transaction, which derives from it: a test sees to that.
    """

    __slots__ = ("connection", "news", "now", "queries", "space", "stamp")

    if TYPE_CHECKING:

        def tie(self, jobs: Sequence[tuple[NewJob, str]]) -> None: ...
        def taken(self, row: dict[str, object]) -> tuple[str, bool]: ...

    def __init__(self, connection: Connection, queries: Queries, now: int, space: Callable[[int], None]) -> None:
        self.connection = connection
        self.queries = queries
        self.now = now
        self.stamp = stamp.to_text(now)
        self.news = News()
        self.stirred = self.crowded = False
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

    def insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]:
        jobs = self.ruled(jobs)
        if isinstance(jobs, Alike):
            if jobs.pattern.flow is None and jobs.pattern.key is None:
                return self._insert_alike(jobs)
            jobs = list(jobs)
        tied = [place for place, job in enumerate(jobs) if job.flow is not None]
        if not tied:
            return self._insert(jobs)
        with self.all_or_none():  # even if the caller's transaction goes on
            answers = self._insert(jobs)
            self.tie([(jobs[place], answers[place][0]) for place in tied if answers[place][1]])
        return answers

    def _insert_alike(self, jobs: Alike) -> list[tuple[str, bool]]:
        """A statement for many rows opens the table and its indexes once, and goes on where the row before was put."""
        like, payloads = jobs.pattern, jobs.payloads
        self.check_space(sum(map(len, payloads)))
        ids = new_ids(self.now, len(jobs))
        self.news.queues.add(like.queue)
        row = self.new_row(like, "")
        if like.group is not None or like.tenant:
            self._hold_new([row], {(like.tenant, like.group)})
        apart = len(jobs) % ROWS
        with self.all_or_none():  # even if the caller's transaction goes on
            sql, in_order = self.queries.by_place("insert")
            rest = in_order(row)[2:]
            self.connection.executemany(sql, [(ids[place], payloads[place], *rest) for place in range(apart)])
            sql, in_order = self.queries.by_place("insert_alike")
            self.connection.executemany(sql, _rows_at_once(in_order(row), ids[apart:], payloads[apart:]))
        return [(job_id, True) for job_id in ids]

    def _insert(self, jobs: Sequence[NewJob]) -> list[tuple[str, bool]]:
        self.check_space(sum([len(job.payload) for job in jobs]))
        ids = new_ids(self.now, len(jobs))
        self.news.queues.update([job.queue for job in jobs])
        scopes = {(job.tenant, job.group) for job in jobs if job.group is not None or job.tenant}
        if len(jobs) > 1 and not scopes and not any(job.key is not None for job in jobs):
            with self.all_or_none():  # even if the caller's transaction goes on
                sql, in_order = self.queries.by_place("insert")
                self.connection.executemany(sql, self._rows_in_order(jobs, ids, in_order))
            return [(job_id, True) for job_id in ids]
        rows = [self.new_row(job, job_id) for job, job_id in zip(jobs, ids, strict=True)]
        if scopes:
            self._hold_new(rows, scopes)
        if len(rows) == 1:
            return [self._insert_one(rows[0])]
        with self.all_or_none():
            return [self._insert_one(row) for row in rows]

    def _rows_in_order(
        self, jobs: Sequence[NewJob], ids: list[str], in_order: Callable[[dict[str, object]], tuple[object, ...]]
    ) -> Iterator[tuple[object, ...]]:
        """Rows by place. The jobs of one handler differ in the first two, so the others are made once."""
        like: NewJob | None = None
        rest: tuple[object, ...] = ()
        for job, job_id in zip(jobs, ids, strict=True):
            if job.alike is None or job.alike is not like:
                like, rest = job.alike, in_order(self.new_row(job, job_id))[2:]
            yield job_id, job.payload, *rest

    def _hold_new(self, rows: list[dict[str, object]], scopes: set[tuple[str, str | None]]) -> None:
        """Some of the jobs have a group or a tenant, which may be paused; and those who watch groups want to know."""
        held: dict[tuple[object, object], int] = {}
        for tenant, group in scopes:
            self.news.of_group(tenant, group)
            held[tenant, group] = self.run("paused_bits", tenant=tenant, group=group)[0][0]
        for row in rows:
            row["held"] = held.get((row["tenant"], row["group"]), 0)

    def _insert_one(self, row: dict[str, object]) -> tuple[str, bool]:
        if self.connection.change(self.queries["insert"], row):
            return str(row["id"]), True
        return self.taken(row)

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

    def __getattr__(self, name: str) -> Any:
        """Any other verb: the rest is loaded now, and from here on this is a whole transaction."""
        if type(self) is not Asking:
            raise AttributeError(f"a transaction has no verb {name!r}")
        self.__class__ = _loaded()
        return getattr(self, name)


def begun(connection: Connection, queries: Queries, now: int, space: Callable[[int], None]) -> SqliteTransaction:
    """A transaction; a whole one at once where that is loaded."""
    return (_whole or Asking)(connection, queries, now, space)  # type: ignore[return-value]


def _loaded() -> type[SqliteTransaction]:
    global _whole  # noqa: PLW0603  # one for the process, as modules are
    from holdfast.store.sqlite.transaction import SqliteTransaction  # noqa: PLC0415

    _whole = SqliteTransaction
    return _whole


def _rows_at_once(common: tuple[object, ...], ids: list[str], payloads: list[str]) -> Iterator[tuple[object, ...]]:
    """The parameters of `insert_alike`, for each run of it."""
    pairs = [""] * (2 * len(ids))
    pairs[::2], pairs[1::2] = ids, payloads
    for start in range(0, len(pairs), 2 * ROWS):
        yield *common, *pairs[start : start + 2 * ROWS]


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

    def __init__(self, here: Asking) -> None:
        self._here = here

    def __enter__(self) -> None:
        self._space, self._here.space = self._here.space, _enough

    def __exit__(self, *_: object) -> None:
        self._here.space = self._space


def _enough(_: int) -> None:
    """There is room for the end of a run."""
