"""PostgreSQL as a place to measure: a throw-away schema, and what the server does without a queue on top of it."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from psycopg import sql

from holdfast.cli.measures import ruler
from holdfast.cli.measures.bare import rows
from holdfast.cli.measures.rounds import Sample
from holdfast.signals.folder import folder_of
from holdfast.store.postgres.connection import Connection, is_ours, translate
from holdfast.store.postgres.location import Location

if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE = Path(__file__).parent


class Server:
    """The server of a store's address. All that is made there lies in one schema with a name of its own."""

    def __init__(self, url: str) -> None:
        self._location = Location(url).patient()
        self._name = f"holdfast_bench_{token_hex(6)}"
        self._url = _with_schema(url, self._name)

    @contextmanager
    def schema(self) -> Iterator[str]:
        """A new schema: the address of a store in it. Gone at the end, whoever is still connected."""
        try:  # before it is made: a signal may come between the server's commit and its answer
            self._run("schema_make")
            yield self._url
        finally:
            self._run("schema_drop")
            shutil.rmtree(folder_of(Location(self._url).path), ignore_errors=True)

    def version(self) -> str:
        """Of the server."""
        with self._connected(self._location) as connection:
            return str(connection.raw.info.parameter_status("server_version")).partition(" ")[0]

    def commits(self, seconds: float) -> Sample:
        """How often a transaction with a number, and nothing else, is made durable, one after the other."""
        waits: list[float] = []
        with self._connected(self._location) as connection:
            text, end = _query("server_commit"), perf_counter() + seconds
            while perf_counter() < end or len(waits) < 2:  # noqa: PLR2004  # percentiles need two
                begin = perf_counter()
                connection.run(text, {})
                waits.append(1000 * (perf_counter() - begin))
        return Sample(1000 * len(waits) / sum(waits), ruler.percentiles(waits))

    def insert_each(self, url: str, seconds: float) -> Sample:
        """Rows one by one, each with a commit of its own, for so long."""
        with self._connected(Location(url)) as connection:
            connection.execute(_query("server_table"))
            text, done, took, begin = _query("server_insert"), 0, 0.0, perf_counter()
            for row in rows(10**9):
                connection.execute(text, row)
                done += 1
                if (took := perf_counter() - begin) >= seconds:
                    break
        return Sample(done / took)

    def insert_all(self, url: str, jobs: int) -> Sample:
        """So many rows in one transaction."""
        with self._connected(Location(url)) as connection:
            connection.execute(_query("server_table"))
            begin = perf_counter()
            with connection.all_or_none(), connection.raw.cursor() as cursor:
                cursor.executemany(_query("server_insert"), rows(jobs))
            took = perf_counter() - begin
        return Sample(jobs / took)

    def _run(self, name: str) -> None:
        with self._connected(self._location) as connection:
            connection.raw.execute(sql.SQL(_query(name)).format(schema=sql.Identifier(self._name)))

    @contextmanager
    def _connected(self, location: Location) -> Iterator[Connection]:
        connection = Connection.open(location)
        try:
            yield connection
        except Exception as error:
            if not is_ours(error):
                raise
            raise translate(error, location) from error
        finally:
            connection.close()


def _with_schema(url: str, name: str) -> str:
    """The address of another queue of the database, whose tables lie in this schema. A tenant is not bound there."""
    parts = urlsplit(url)
    settings: dict[str, Any] = dict(parse_qsl(parts.query.replace("+", "%2B"), keep_blank_values=True))
    settings.pop("tenant", None)
    settings["channel"] = name
    settings["options"] = f"{settings.get('options', '')} -csearch_path={name}".strip()
    return urlunsplit(parts._replace(query=urlencode(settings, quote_via=quote)))


def _query(name: str) -> str:
    return (_HERE / f"{name}.sql").read_text(encoding="utf-8")
