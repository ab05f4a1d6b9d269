"""The driver's connection inside what a framework hands in."""

from __future__ import annotations

from holdfast.store.frameworks import is_a, is_of_django

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def driver_connection(connection: Any) -> Any:
    """Itself if no framework is known around it. A framework's transaction is begun, or it would not commit ours."""
    if is_a(connection, "sqlalchemy.orm", "Session", "scoped_session"):
        connection = connection.connection()
    if is_a(connection, "sqlalchemy", "Connection"):
        if not connection.in_transaction():
            connection.begin()
        return connection.connection.driver_connection
    if is_of_django(connection):
        connection.ensure_connection()
        return connection.connection
    return connection
