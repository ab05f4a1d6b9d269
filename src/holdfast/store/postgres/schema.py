"""Make or mend the tables, when asked to. Forward only: the tables of a newer Holdfast are refused, never touched."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from holdfast.model import stamp
from holdfast.model.errors import StoreError
from holdfast.model.moving import moved

if TYPE_CHECKING:
    from holdfast.store.postgres.connection import Connection
    from holdfast.store.sql import Queries

MIGRATIONS = (
    "0001_jobs", "0002_tenants", "0003_audit", "0004_newest", "0005_schedules", "0006_flow", "0007_parents",
    "0008_groups", "0009_parking", "0010_batches", "0011_limits", "0012_counts",
)  # fmt: skip


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


def require_schema(connection: Connection, queries: Queries, *, moved_too: bool = False) -> None:
    """Refuse a database without our tables: on a shared server only a person makes tables."""
    if _version(connection, queries, moved_too=moved_too) != len(MIGRATIONS):
        raise StoreError(
            "SCHEMA_MISSING", f"{connection.location.shown} has no current tables yet: run `holdfast migrate` first"
        )


def moved_away(connection: Connection, queries: Queries) -> StoreError | None:
    """What to tell whoever finds the tables gone; None if no move took them away."""
    if "holdfast_move" not in _tables(connection, queries):
        return None
    for is_open, _, _, peer in connection.run(queries["move_look"], {}):
        if not is_open:
            return moved(connection.location.shown, peer)
    return None


def _version(connection: Connection, queries: Queries, *, moved_too: bool = False) -> int:
    shown = connection.location.shown
    tables = _tables(connection, queries)
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
    if not moved_too and "holdfast_move" in tables and (elsewhere := moved_away(connection, queries)):
        raise elsewhere
    return version


def _tables(connection: Connection, queries: Queries) -> set[str]:
    return {name for (name,) in connection.run(queries["tables"], {})}
