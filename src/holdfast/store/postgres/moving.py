"""A PostgreSQL database as one end of a move.

A copy is one transaction: nobody sees a row before all of them were read back and found right, and a kill at any point
leaves nothing behind.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.model import stamp
from holdfast.model.errors import StoreError
from holdfast.store.moving import TABLES, Busy, Side
from holdfast.store.postgres.connection import Connection, is_busy, is_ours, translate
from holdfast.store.postgres.schema import require_schema
from holdfast.store.postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.model.moving import Mark


class PostgresSide(Side):
    """The promises of a side, on one database."""

    package = "holdfast.store.postgres"
    turn = 1

    def __init__(self, url: str) -> None:
        store = PostgresStore(url)
        self._location = store.location.patient()
        self._queries = store.queries
        self._connection: Connection | None = None
        self._now = 0
        self.shown = self._location.shown

    def begin(self) -> None:
        with self._telling():
            if self._connection is None or self._connection.is_lost():
                self._connection = self._opened()
            (self._now,) = self._connection.begin(self._queries["now"])
            self._connection.run(self._queries["move_lock"], {})

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
            return self._open.run(self._queries[query], parameters)

    def run_script(self, text: str) -> None:
        with self._telling():
            self._open.execute(text)

    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        with self._telling():
            yield from self._open.stream(self._queries[f"out_{TABLES[table]}"])

    def fill(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        if table == "job_figures":  # a minute without its zone would be read as the session's; the part is nobody's
            rows = ((f"{minute}Z", *rest, 0) for minute, *rest in rows)
        with self._telling():
            self._open.copy(self._queries[f"in_{TABLES[table]}"], rows)

    def stamp(self) -> str:
        return stamp.to_text(self._now)

    def keep_still(self) -> None:
        if self.mark().is_open:  # a closed one is still already
            self.run("move_still")

    def keep_out(self) -> None:
        self.run("move_alone")

    def remember(self, mark: Mark) -> None:
        super().remember(mark)
        self.run("move_shown")

    def lend(self) -> None:
        self.script("open")

    @property
    def _open(self) -> Connection:
        assert self._connection is not None, "begin() comes first"
        return self._connection

    def _opened(self) -> Connection:
        connection = Connection.open(self._location)
        try:
            require_schema(connection, self._queries, moved_too=True)
            self._check_role(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_role(self, connection: Connection) -> None:
        if connection.run(self._queries["policed"], {})[0][0]:
            raise StoreError(
                "STORE_FORBIDDEN",
                f"{self.shown}: policies bind this role, and it may not change tables: give the role that owns them",
            )

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not is_ours(error):
                raise
            told = translate(error, self._location)
            raise Busy(told.code, str(told)) if is_busy(error) else told from error
