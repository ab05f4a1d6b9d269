"""Transactions on connections of the caller's own, plain or awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.model.errors import StoreError
from holdfast.store.postgres.awaited import AwaitedAsyncpg, AwaitedPsycopg
from holdfast.store.postgres.base import read_file
from holdfast.store.postgres.connection import Connection, is_ours, translate
from holdfast.store.postgres.guests import agreet, greet, is_awaited
from holdfast.store.postgres.schema import require_schema
from holdfast.store.postgres.transaction import JoinedTransaction
from holdfast.store.sql import Queries

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.store.postgres.in_step import Step
    from holdfast.store.postgres.location import Location

    Row = tuple[Any, ...]


class Joins:
    """Lets callers' connections in that lead to the store's own table; safe for several threads."""

    def __init__(self, location: Location, queries: Queries, clock: Callable[[], int] | None) -> None:
        self._location = location
        self._queries = queries
        self._plain_queries = Queries(read_file)
        self._clock = clock
        self._place: Row = ()

    def join(self, connection: Any) -> JoinedTransaction:
        raw, answer = greet(connection, self._queries["place"])
        return self._joined(Connection(raw, self._location), self._queries, answer)

    async def ajoin(self, connection: Any, call: Callable[[Any], Any]) -> Any:
        if not is_awaited(connection):
            return call(self.join(connection))
        from holdfast.store.postgres.in_step import in_step  # noqa: PLC0415  # who has no coroutines needs no asyncio

        raw, answer = await agreet(connection, self._queries["place"])

        def work(step: Step) -> Any:
            if hasattr(raw, "pgconn"):
                return call(self._joined(AwaitedPsycopg(raw, self._location, step), self._queries, answer))
            return call(self._joined(AwaitedAsyncpg(raw, self._location, step), self._plain_queries, answer))

        return await in_step(work)

    def _joined(self, connection: Connection, queries: Queries, answer: Row) -> JoinedTransaction:
        *where, now = answer
        place = tuple(where)
        if place != self._place:
            self._place = self._own_place()  # the server may have been started anew since
        if place != self._place:
            raise StoreError(
                "WRONG_CONNECTION",
                f"that connection does not lead to the jobs of {self._location.shown}: give one to the same database, "
                "whose search_path finds the same job_queue",
            )
        return JoinedTransaction(connection, queries, self._clock() if self._clock else now)

    def _own_place(self) -> Row:
        """Asked on a connection of its own, because those of the store belong to whoever has the desk's turn."""
        connection = Connection.open(self._location)
        try:
            require_schema(connection, self._queries)
            return connection.run(self._queries["place"], {})[0][:-1]
        except Exception as error:
            if not is_ours(error):
                raise
            raise translate(error, self._location) from error
        finally:
            connection.close()
