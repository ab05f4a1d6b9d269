"""Make or mend the tables. Forward only: a file of a newer Holdfast is refused, never touched."""

from __future__ import annotations

import os

from holdfast.model import stamp
from holdfast.model.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from holdfast.store.sql import Queries
    from holdfast.store.sqlite.connection import Connection
    from holdfast.store.sqlite.location import Location

MIGRATIONS = (
    "0001_jobs", "0002_audit", "0003_newest", "0004_schedules", "0005_flow", "0006_parents",
    "0007_groups", "0008_parking", "0009_batches", "0010_limits", "0011_counts",
)  # fmt: skip
_LOOK_MS = 5_000


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


def refuse_foreign(connection: Connection, *, shares: bool = True) -> None:
    """Look before the first change: a file that is somebody else's, or too new, must stay as it is."""
    version = _version(connection, {name: _query(name) for name in ("tables", "schema_version", "move_look")})
    if not version and not shares:
        _refuse_others(connection)


def refuse_older(connection: Connection, queries: Queries) -> bool:
    """For those who may make tables where there are none, but not change what others made: whether there are some."""
    version = _version(connection, queries)
    if not version:
        _refuse_others(connection)
    elif version != len(MIGRATIONS):
        raise StoreError(
            "SCHEMA_MISSING", f"{connection.location.path} is of an older Holdfast: run `holdfast migrate` first"
        )
    return version > 0


def _refuse_others(connection: Connection) -> None:
    if connection.execute(_query("others"))[0][0]:
        raise StoreError(
            "FOREIGN_TABLES",
            f"{connection.location.path} is a database that Holdfast did not make: move it, or give the path of "
            "another file; nothing was changed",
        )


def has_schema(location: Location) -> bool:
    """Whether there are tables of ours at a place, for those who only look: nothing is made and nothing changed."""
    from holdfast.store.sqlite.connection import Connection, translate  # noqa: PLC0415

    connection = Connection(location)
    try:
        connection.wait_for_locks(_LOOK_MS)
        return bool(_ours(connection, _query("tables")))
    except Exception as error:
        if connection.is_ours(error):
            raise translate(error, location.path) from error
        raise
    finally:
        connection.close(keep_log=True)


def require_schema(connection: Connection, queries: Queries, *, moved_too: bool = False) -> None:
    """Refuse a file without our tables: on a caller's own connection nothing is made."""
    if _version(connection, queries, moved_too=moved_too) != len(MIGRATIONS):
        raise StoreError(
            "SCHEMA_MISSING", f"{connection.location.path} has no current tables yet: run `holdfast migrate` first"
        )


def _where_it_went(connection: Connection, queries: Mapping[str, str]) -> StoreError | None:
    for is_open, _, _, peer in connection.execute(queries["move_look"]):
        if not is_open:
            from holdfast.model.moving import moved  # noqa: PLC0415  # a store that never moved needs none of it

            return moved(f"sqlite:///{connection.location.path}", peer)
    return None


def moved_away(connection: Connection, queries: Mapping[str, str]) -> StoreError | None:
    """What to tell whoever finds the tables gone; None if no move took them away."""
    return _where_it_went(connection, queries) if "holdfast_move" in _ours(connection, queries["tables"]) else None


def _version(connection: Connection, queries: Mapping[str, str], *, moved_too: bool = False) -> int:
    path = connection.location.path
    tables = _ours(connection, queries["tables"])
    if not tables:
        return 0
    version = int(connection.execute(queries["schema_version"])[0][0] or 0)
    if version > len(MIGRATIONS):
        raise StoreError(
            "SCHEMA_TOO_NEW",
            f"{path} has schema {version}, this Holdfast knows {len(MIGRATIONS)}: upgrade it; nothing was changed",
        )
    if "holdfast_move" in tables and not moved_too and (moved := _where_it_went(connection, queries)):
        raise moved
    return version


def _ours(connection: Connection, query: str) -> dict[str, str]:
    """Our tables in the file; one that uses their names for something else is refused."""
    found = {str(name): str(kind) for name, kind in connection.execute(query)}
    foreign = [f"{kind} {name}" for name, kind in found.items() if kind != "table" or "holdfast_schema" not in found]
    if foreign:
        raise StoreError(
            "FOREIGN_TABLES",
            f"{connection.location.path} has a {min(foreign)} that Holdfast did not make: give the path of another "
            "file; nothing was changed",
        )
    return found


def _query(name: str) -> str:
    return _text("sql", name)


def _migration(name: str) -> str:
    return _text("migrations", name)


def _text(kind: str, name: str) -> str:
    folder = os.path.dirname(__file__)  # noqa: PTH120
    return str(__loader__.get_data(os.path.join(folder, kind, f"{name}.sql")).decode())  # type: ignore[name-defined]  # noqa: PTH118
