"""A PgBouncer for the tests, in transaction mode, before the PostgreSQL of the tests.

An installed one is started on a private port and in a private folder, for as long as the process that started it lives.
Where none is installed, root on Debian or Ubuntu installs the distribution's package; anyone else is told which command
to run.

It hands each transaction to the connection that rested longest, so two transactions in a row of one client meet two
sessions of the server: whatever leans on a session falls over at once, and not in production.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.servers import postgres
from tests.servers.packages import free_port, program

PACKAGE = "pgbouncer"
_CONFIG = """
[databases]
* = {behind}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
admin_users = holdfast
pool_mode = transaction
server_round_robin = 1
min_pool_size = 3
default_pool_size = 6
max_client_conn = 500
pidfile = {folder}/pid
logfile = {folder}/log
"""
_started: list[Bouncer] = []


def installed() -> str:
    """The program; it is installed if need be."""
    return program("pgbouncer", package=PACKAGE)


class Bouncer:
    """A running pooler of this process, before a server."""

    def __init__(self, behind: str) -> None:
        self._program = installed()
        user = postgres.unprivileged()  # it refuses to run as root
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-bouncer-"))
        atexit.register(self.remove, os.getpid())
        self.port = free_port()
        with psycopg.connect(behind) as connection:
            known = connection.info.get_parameters() | {"password": connection.info.password}
        self._user = known["user"]
        told = {name: known[name] for name in ("host", "port", "user", "password") if known.get(name)}
        config = self.folder / "pgbouncer.ini"
        config.write_text(
            _CONFIG.format(
                behind=" ".join(f"{name}={value}" for name, value in told.items()), port=self.port, folder=self.folder
            )
        )
        as_user = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        if user is not None:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            os.chown(config, user.pw_uid, user.pw_gid)
        self._process = subprocess.Popen(
            [self._program, "--quiet", str(config)],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            process_group=0, **as_user,
        )  # fmt: skip
        self._wait()

    def before(self, url: str) -> str:
        """The address of the same database through the pooler; settings of ours stay as they are."""
        parts = urlsplit(url)
        kept = [one for one in parts.query.split("&") if one and one.partition("=")[0] not in ("host", "port")]
        place = f"{self._user}@127.0.0.1:{self.port}"
        return urlunsplit(parts._replace(netloc=place, query="&".join(kept)))

    def sessions(self, url: str) -> int:
        """How many connections of the pool lead to a database."""
        name = urlsplit(url).path.lstrip("/")
        admin = f"postgresql://holdfast@127.0.0.1:{self.port}/pgbouncer"
        with psycopg.connect(admin, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
            return sum(row[2] == name for row in connection.execute("show servers"))

    def remove(self, of_process: int) -> None:
        """At the end of the process that started it, and of none that was forked from it."""
        if of_process != os.getpid():
            return
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        give_up = time.monotonic() + 10
        while True:
            try:
                psycopg.connect(
                    f"postgresql://holdfast@127.0.0.1:{self.port}/pgbouncer", connect_timeout=2, autocommit=True
                ).close()
            except psycopg.OperationalError:
                log = self.folder / "log"
                assert time.monotonic() < give_up, log.read_text() if log.exists() else "it does not start"
                time.sleep(0.02)
            else:
                return


def bouncer() -> Bouncer:
    """The one pooler of this process, before its one server."""
    if not _started:
        _started.append(Bouncer(postgres.server().url))
    return _started[0]
