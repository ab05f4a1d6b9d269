"""Signals through PostgreSQL itself: NOTIFY for each commit, LISTEN on a connection of its own.

NOTIFY holds a lock of the whole server until its transaction ends. So it is part of an enqueue's transaction, whose
commit may take milliseconds, only where nobody can come to wait for it (`insert_alone`); else of one of its own, which
writes nothing. A pooler in transaction mode swallows LISTEN without a word: the ear's probe finds out.
"""

from __future__ import annotations

import os
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg

from holdfast.signals.network import ANSWER_SECONDS

if TYPE_CHECKING:
    from collections.abc import Generator

CHANNEL = "holdfast"
_OPTIONS: dict[str, Any] = {
    "application_name": "holdfast signals",
    "connect_timeout": int(ANSWER_SECONDS),
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": int(ANSWER_SECONDS * 1000),
}


class PostgresNetwork:
    """The database that holds the jobs."""

    suspect = (
        "PgBouncer in transaction mode swallows LISTEN: name the server itself in signal=postgresql://..., or a broker"
    )

    def __init__(self, conninfo: str, channel: str = CHANNEL, *, stores_jobs: bool = False) -> None:
        self.stores_jobs = stores_jobs
        self._conninfo = conninfo
        self._channel = channel
        self._notify = (files("holdfast.signals") / "sql" / "notify.sql").read_bytes()
        self.name = f"PostgreSQL at {_place(conninfo)}"

    def connect(self, *, hear: bool) -> PostgresLine:
        """A new connection: one that hears, or one that only tells."""
        try:
            connection = _Bounded.connect(self._conninfo, autocommit=True, prepare_threshold=None, **_OPTIONS)
        except psycopg.ProgrammingError:
            # The driver cannot read the address, and says so with a piece of it, which may be the password.
            raise psycopg.ProgrammingError("the driver cannot read the whole address") from None
        if not hear:  # through a pooler, a session may come to us that another client made listen
            connection.add_notify_handler(_pass_over)
            return PostgresLine(connection, self._notify, self._channel)
        try:
            connection.execute(f"listen {self._channel}")
        except BaseException:
            connection.close()
            raise
        return PostgresLine(connection, self._notify, self._channel)


class PostgresLine:
    """One connection."""

    def __init__(self, connection: psycopg.Connection[Any], notify: bytes, channel: str) -> None:
        self._connection = connection
        self._notify = notify
        self._channel = channel

    def send(self, message: bytes) -> None:
        """Pass a message on to everyone who hears."""
        self._connection.execute(self._notify, {"channel": self._channel, "message": message.decode()})

    def receive(self, seconds: float, most: int) -> list[bytes]:
        """What came, waiting at most so long for the first."""
        heard = [one.payload.encode() for one in self._connection.notifies(timeout=seconds, stop_after=1)]
        return heard[:most]  # more is no more than a reason to look, too

    def keep(self) -> None:
        """The server asks nothing."""

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


class _Bounded(psycopg.Connection[Any]):
    """A connection whose every wait comes to an end, whatever stands between it and the server."""

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("timeout"):  # an ear need not look up ten times a second while nothing comes
            kwargs.setdefault("interval", kwargs["timeout"])
        return super().wait(_until(gen, monotonic() + ANSWER_SECONDS), *args, **kwargs)


def _place(conninfo: str) -> str:
    """Its hosts, or the folder of its socket, as the driver finds them; without user and password."""
    parts = urlsplit(conninfo)
    hosts = unquote(parts.netloc.rpartition("@")[2])
    asked = parse_qs(parts.query)
    named = (asked.get(name, [""])[0] for name in ("host", "hostaddr"))
    return next(filter(None, named), "") or hosts or os.environ.get("PGHOST") or "the default socket of this machine"


def _pass_over(_: object) -> None:
    """What is not for us; the driver would keep it."""


def _until(gen: Generator[Any, Any, Any], end: float) -> Generator[Any, Any, Any]:
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and monotonic() > end:
                raise psycopg.OperationalError("the server did not answer in time")
            wanted = gen.send(ready)
    except StopIteration as done:
        return done.value
