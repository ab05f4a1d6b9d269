"""Make or mend the tables. Forward only: a file of a newer Holdfast is refused, never touched."""

from __future__ import annotations

import os

from holdfast.model import stamp
from holdfast.model.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.store.sql import Queries
    from holdfast.store.sqlite.connection import Connection

MIGRATIONS = ("0001_jobs",)


def ensure_schema(
    connection: Connection,
    queries: Queries,
    clock: Callable[[], int],
    retrying: Callable[[Connection, Callable[[], Any]], Any],
    applied: list[int],
) -> None:
    """Bring the file up to date; `applied` collects the migrations that were made."""
    if retrying(connection, lambda: _version(connection, queries)) == len(MIGRATIONS):
        return
    retrying(connection, connection.begin)
    try:
        # Asked again under the lock: another process may have been faster.
        for number in range(_version(connection, queries) + 1, len(MIGRATIONS) + 1):
            name = MIGRATIONS[number - 1]
            connection.execute(queries["schema_table"])
            connection.script(_migration(name))
            connection.execute(
                queries["schema_applied"], {"version": number, "name": name, "now": stamp.to_text(clock())}
            )
            applied.append(number)
        connection.commit()
    except BaseException as error:
        connection.roll_back()
        if isinstance(error, Exception) and connection.is_ours(error):
            from holdfast.store.sqlite.connection import translate  # noqa: PLC0415

            raise translate(error, connection.location.path) from error
        raise


def require_schema(connection: Connection, queries: Queries) -> None:
    """Refuse a file without our tables: on a caller's own connection nothing is made."""
    if _version(connection, queries) != len(MIGRATIONS):
        raise StoreError(
            "SCHEMA_MISSING", f"{connection.location.path} has no current tables yet: run `holdfast migrate` first"
        )


def _version(connection: Connection, queries: Queries) -> int:
    path = connection.location.path
    tables = {name for (name,) in connection.execute(queries["tables"])}
    if not tables:
        return 0
    if tables == {"job_queue"}:
        raise StoreError(
            "FOREIGN_TABLES",
            f"{path} has a table job_queue that Holdfast did not make: give the path of another file",
        )
    version = int(connection.execute(queries["schema_version"])[0][0] or 0)
    if version > len(MIGRATIONS):
        raise StoreError(
            "SCHEMA_TOO_NEW",
            f"{path} has schema {version}, this Holdfast knows {len(MIGRATIONS)}: upgrade it; nothing was changed",
        )
    return version


def _migration(name: str) -> str:
    folder = os.path.dirname(__file__)  # noqa: PTH120
    return str(__loader__.get_data(os.path.join(folder, "migrations", f"{name}.sql")).decode())  # type: ignore[name-defined]  # noqa: PTH118
