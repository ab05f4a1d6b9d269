"""The server that is measured: it keeps what it confirms, on a real disk.

BENCH_POSTGRES names one that runs: the URL of a role that may create databases and make checkpoints. Else an installed
one is started in BENCH_DIR or the working folder, for as long as the measurement lasts. Clients come over TCP, as they
do where several hosts share a server, and every queue has a database of its own.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from holdfast.cli.measures.rounds import Sample
from tests.servers.postgres import OwnServer, Server

# What durability needs, said aloud. The rest keeps one side's checkpoints out of another's turn.
DURABLE = (
    "fsync=on",
    "synchronous_commit=on",
    "full_page_writes=on",
    "autovacuum=on",
    "shared_buffers=512MB",
    "max_wal_size=4GB",
    "max_connections=200",
)
SHOWN = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers")
MUST_BE_ON = ("fsync", "synchronous_commit", "full_page_writes")
LONGEST_SOCKET = 107
ACCESS = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"


class Databases:
    """Databases of one server, each made empty for one measurement and dropped after it."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def make(self) -> str:
        """The URL of a new, empty database. What others wrote before is on the disk by then."""
        url = self._server.database()
        execute(url, "checkpoint")
        return url

    def drop(self, url: str) -> None:
        """Throw one away, whoever is still connected."""
        self._server.drop(url)

    @contextmanager
    def one(self) -> Iterator[str]:
        """A database for as long as it is used."""
        url = self.make()
        try:
            yield url
        finally:
            self.drop(url)

    def measured(self, work: Callable[[str], Sample]) -> Callable[[], Sample]:
        """A measurement on a database of its own."""

        def on_a_new_one() -> Sample:
            with self.one() as url:
                return work(url)

        return on_a_new_one

    def facts(self) -> dict[str, Any]:
        """What the figures depend on; a server that does not keep what it confirms is refused."""
        known = {name: execute(self._server.url, f"show {name}")[0][0] for name in SHOWN}
        loose = [name for name in MUST_BE_ON if known[name] != "on"]
        if loose:
            sys.exit(f"this server may forget what it confirmed: turn {', '.join(loose)} on and try again")
        return {"PostgreSQL": known.pop("server_version").split()[0]} | known


@contextmanager
def running(place: Path) -> Iterator[Databases]:
    """The server that was named, else one of our own on that disk, gone afterwards."""
    given = os.environ.get("BENCH_POSTGRES")
    if given:
        yield Databases(Server(given))
        return
    own = DurableServer(place.resolve())
    try:
        yield Databases(own)
    finally:
        own.remove(os.getpid())


class DurableServer(OwnServer):
    """A server that may be reached over TCP by those who know its password: every driver of every peer can do that."""

    def __init__(self, base: Path, settings: tuple[str, ...] = DURABLE) -> None:
        if len(str(base)) > LONGEST_SOCKET - 40:
            sys.exit(f"{base} is too long a path for a server's socket: set BENCH_DIR to a shorter one")
        if os.geteuid() == 0 and (closed := closed_to_others(base)):
            sys.exit(f"the server does not run as root and may not enter {closed}: set BENCH_DIR to another folder")
        super().__init__(settings, base)
        password, port = secrets.token_hex(16), _free_port()
        execute(self.url, sql.SQL("alter role postgres password {}").format(sql.Literal(password)))
        (Path(self.data) / "pg_hba.conf").write_text(ACCESS)
        self.stop()
        self._settings = (*settings, "listen_addresses=127.0.0.1", f"port={port}")
        self.start()
        self.url = f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres"


def execute(url: str, query: str | sql.Composed) -> list[tuple[Any, ...]]:
    """Run one statement on a connection of its own."""
    with psycopg.connect(url, autocommit=True) as connection:
        answer = connection.execute(query)  # type: ignore[arg-type,unused-ignore]
        return answer.fetchall() if answer.description else []


def settle(url: str) -> None:
    """What autovacuum would soon do by itself; done now, it does not fall into one side's turn by chance."""
    execute(url, "vacuum analyze")
    execute(url, "checkpoint")


def closed_to_others(folder: Path) -> Path | None:
    """The first folder on the way that another user may not enter."""
    way = [*reversed(folder.parents), folder]
    return next((one for one in way if not one.stat().st_mode & 0o001), None)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
