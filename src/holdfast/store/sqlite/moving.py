"""A SQLite file as one end of a move."""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp
from holdfast.model.errors import StoreError
from holdfast.store.moving import TABLES, Side
from holdfast.store.sqlite.connection import translate
from holdfast.store.sqlite.schema import require_schema
from holdfast.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.store.sqlite.connection import Connection

_BATCH = 1_000


class SqliteSide(Side):
    """The promises of a side, on one file. The file must be there: a move makes none."""

    package = "holdfast.store.sqlite"
    turn = 2

    def __init__(self, url: str) -> None:
        self._store = SqliteStore(url)
        self._path = self._store.location.path
        self._connection: Connection | None = None
        self.shown = f"sqlite:///{self._path}"

    def begin(self) -> None:
        if self._connection is None:
            self._connection = self._opened()
        self._store.retrying(self._connection, self._connection.begin)

    def commit(self) -> None:
        with self._telling():
            self._open.commit()

    def roll_back(self) -> None:
        if self._connection is not None:
            self._connection.roll_back()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def run(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        with self._telling():
            return self._open.execute(self._store.queries[query], parameters)

    def run_script(self, text: str) -> None:
        with self._telling():
            self._open.script(text)

    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        with self._telling():
            yield from self._open.stream(self._store.queries[f"out_{TABLES[table]}"])

    def fill(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        insert, _ = self._store.queries.by_place(f"in_{TABLES[table]}")
        left = iter(rows)
        while batch := list(islice(left, _BATCH)):
            with self._telling():
                self._open.executemany(insert, batch)

    def stamp(self) -> str:
        return stamp.to_text(self._store.now())

    def keep_still(self) -> None:
        """A transaction that writes is alone as it is."""

    keep_out = keep_still

    def lend(self) -> None:
        # Views of this connection alone, without the write lock: whoever wants to write shall hear of the move at once.
        self._open.roll_back()
        self._open.begin_reading()
        self.script("lend")

    @property
    def _open(self) -> Connection:
        assert self._connection is not None, "begin() comes first"
        return self._connection

    def _opened(self) -> Connection:
        if not os.path.exists(self._path):  # noqa: PTH110
            raise StoreError("STORE_MISSING", f"there is no database at {self._path}: check the address")
        connection = self._store.opened()
        try:
            # Views and keys of the user's own keep the names they were written with.
            connection.pragma("legacy_alter_table", "on")
            require_schema(connection, self._store.queries, moved_too=True)
        except BaseException:
            connection.close(keep_log=True)
            raise
        return connection

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not self._open.is_ours(error):
                raise
            raise translate(error, self._path) from error
