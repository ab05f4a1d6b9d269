"""Connections that are awaited, as the verbs know them: what they send is awaited in step by the caller's task."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg

from holdfast.store.postgres.connection import RELEASE, SAVEPOINT, UNDO, Connection, shaped
from holdfast.store.sql import numbered_placeholders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.store.postgres.in_step import Step
    from holdfast.store.postgres.location import Location


class Awaited(Connection):
    """What both drivers have in common."""

    def __init__(self, raw: Any, location: Location, step: Step) -> None:  # the driver's cursor differs
        self.raw = raw
        self.location = location
        self.step = step

    def all_or_none(self) -> Any:
        return self._block()

    @contextmanager
    def _block(self) -> Iterator[None]:
        block = self.raw.transaction()
        self.step(block.__aenter__)
        try:
            yield
        except BaseException as error:
            with suppress(Exception):  # on a connection that was lost meanwhile; what happened first is told
                self.step(partial(block.__aexit__, type(error), error, error.__traceback__))
            raise
        self.step(partial(block.__aexit__, None, None, None))


class AwaitedPsycopg(Awaited):
    """A psycopg.AsyncConnection."""

    def __init__(self, raw: Any, location: Location, step: Step) -> None:
        super().__init__(raw, location, step)
        self._cursor = shaped(psycopg.AsyncCursor(raw))

    def run(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        self.change(sql, parameters)
        if self._cursor.description is None:
            return []
        rows: list[tuple[Any, ...]] = self.step(self._cursor.fetchall)
        return rows

    def change(self, sql: str, parameters: Mapping[str, object]) -> int:
        self.step(lambda: self._cursor.execute(sql, parameters))
        return int(self._cursor.rowcount)


class AwaitedAsyncpg(Awaited):
    """An asyncpg.Connection, which counts its parameters and looks at the type of each."""

    def all_or_none(self) -> Any:
        return self._savepoint() if self.raw.is_in_transaction() else self._block()

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        """The driver's own refuses a transaction that was begun by hand."""
        self.step(partial(self.raw.execute, SAVEPOINT))
        try:
            yield
        except BaseException:
            with suppress(Exception):  # as above
                self.step(partial(self.raw.execute, UNDO))
            raise
        self.step(partial(self.raw.execute, RELEASE))

    def run(self, sql: str, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        text, names = numbered_placeholders(sql)
        rows = self.step(lambda: self.raw.fetch(text, *(parameters[name] for name in names)))
        return [tuple(row) for row in rows]

    def change(self, sql: str, parameters: Mapping[str, object]) -> int:
        text, names = numbered_placeholders(sql)
        done = self.step(lambda: self.raw.execute(text, *(parameters[name] for name in names)))
        return int(done.rpartition(" ")[2])  # as in INSERT 0 1
