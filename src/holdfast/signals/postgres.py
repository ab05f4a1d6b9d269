"""Signals through PostgreSQL itself: NOTIFY after each commit, LISTEN on a connection of its own.

NOTIFY holds a lock of the whole database until its transaction ends, so it is never part of an enqueue's transaction,
whose commit may take milliseconds, but of one of its own, which writes nothing. A pooler in transaction mode swallows
LISTEN without a word: the ear's probe finds out.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import psycopg

CHANNEL = "holdfast"
_ANSWER_SECONDS = 5
_KEEPALIVE = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}


class PostgresNetwork:
    """The database that holds the jobs, or another address of it that no pooler stands before."""

    errors = (psycopg.Error, OSError)

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self.name = f"PostgreSQL at {urlsplit(conninfo).hostname or 'localhost'}"

    def connect(self, *, hear: bool) -> PostgresLine:
        """A new connection: one that hears, or one that only tells."""
        connection = psycopg.connect(
            self._conninfo,
            autocommit=True,
            connect_timeout=_ANSWER_SECONDS,
            prepare_threshold=None,
            application_name="holdfast signals",
            tcp_user_timeout=_ANSWER_SECONDS * 1000,
            **_KEEPALIVE,  # type: ignore[arg-type]
        )
        if hear:
            connection.execute(f"listen {CHANNEL}")
        return PostgresLine(connection)


class PostgresLine:
    """One connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def send(self, message: bytes) -> None:
        """Pass a message on to everyone who hears."""
        self._connection.execute("select pg_notify(%s, %s)", (CHANNEL, message.decode()))

    def receive(self, seconds: float, most: int) -> list[bytes]:
        """What came, waiting at most so long for the first."""
        return [one.payload.encode() for one in self._connection.notifies(timeout=seconds, stop_after=1)]

    def close(self) -> None:
        """Hang up."""
        self._connection.close()
