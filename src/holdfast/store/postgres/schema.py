"""Make or mend the tables, when asked to. Forward only: the tables of a newer Holdfast are refused, never touched."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from holdfast.model import stamp
from holdfast.model.errors import StoreError

if TYPE_CHECKING:
    from holdfast.store.postgres.connection import Connection
    from holdfast.store.sql import Queries

MIGRATIONS = ("0001_jobs",)


def migrate(connection: Connection, queries: Queries, now: int) -> int:
    """Bring the tables up to date in the open transaction; answers how many migrations were made."""
    connection.run(queries["migrating"], {})
    missing = range(_version(connection, queries) + 1, len(MIGRATIONS) + 1)
    for number in missing:
        name = MIGRATIONS[number - 1]
        connection.run(queries["schema_table"], {})
        connection.execute(
            (files("holdfast.store.postgres") / "migrations" / f"{name}.sql").read_text(encoding="utf-8")
        )
        connection.run(queries["schema_applied"], {"version": number, "name": name, "now": stamp.to_text(now)})
    return len(missing)


def require_schema(connection: Connection, queries: Queries) -> None:
    """Refuse a database without our tables: on a shared server only a person makes tables."""
    if _version(connection, queries) != len(MIGRATIONS):
        raise StoreError(
            "SCHEMA_MISSING", f"{connection.location.shown} has no current tables yet: run `holdfast migrate` first"
        )


def _version(connection: Connection, queries: Queries) -> int:
    shown = connection.location.shown
    tables = {name for (name,) in connection.run(queries["tables"], {})}
    if not tables:
        return 0
    if tables == {"job_queue"}:
        raise StoreError(
            "FOREIGN_TABLES",
            f"{shown} has a table job_queue that Holdfast did not make: give the address of another database",
        )
    version = int(connection.run(queries["schema_version"], {})[0][0] or 0)
    if version > len(MIGRATIONS):
        raise StoreError(
            "SCHEMA_TOO_NEW",
            f"{shown} has schema {version}, this Holdfast knows {len(MIGRATIONS)}: upgrade it; nothing was changed",
        )
    return version
