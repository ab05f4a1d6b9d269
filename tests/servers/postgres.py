"""A PostgreSQL for the tests.

One that HOLDFAST_TEST_POSTGRES names is used as it is: a URL of a role that may create databases. Else an installed one is
started in a private folder, on a Unix socket alone, for as long as the process that started it lives. Where none is
installed, root on Debian or Ubuntu installs the distribution's package; anyone else is told which command to run.

The server writes without fsync: what is tested here is logic. Tests of durability start one of their own.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

PACKAGE = "postgresql"
PREFIX = "holdfast-pg-"
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "max_connections=200")
_MEMORY = Path("/dev/shm")  # noqa: S108  # nothing of it is to be kept
_numbers = count(1)
_started: list[Server] = []


class Server:
    """A running server, and databases on it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._template = ""

    def database(self, template: str | None = None) -> str:
        """The URL of a new, empty database, or of a copy of another."""
        name = f"holdfast_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            source = sql.Identifier(template or "template0")
            connection.execute(sql.SQL("create database {} template {}").format(sql.Identifier(name), source))
        return self.url_of(name)

    def migrated(self) -> str:
        """The URL of a new database that has the tables."""
        if not self._template:
            from holdfast.store.postgres.store import PostgresStore

            store = PostgresStore(self.database())
            store.migrate()
            self._template = urlsplit(store.url).path.lstrip("/")
        return self.database(self._template)

    def drop(self, url: str) -> None:
        """Throw a database away, whoever is still connected."""
        name = sql.Identifier(urlsplit(url).path.lstrip("/"))
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(name))

    def drop_template(self) -> None:
        if self._template:
            self.drop(self.url_of(self._template))

    def url_of(self, name: str) -> str:
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))


class OwnServer(Server):
    """A server of this process, in a folder of its own; it may be stopped, killed and started again.

    With a port it also listens there, on this machine alone.
    """

    def __init__(self, settings: tuple[str, ...] = FAST, base: Path | None = None, *, port: int = 0) -> None:
        self._programs = programs()
        self._user = unprivileged()
        base = base or _in_memory()
        self._sweep(base)
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        atexit.register(self.remove, os.getpid())  # whatever happens from now on, a signal included
        (self.folder / "owner").write_text(str(os.getpid()))
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self.port = port
        self._killed = False
        self._settings = (*settings, "listen_addresses=127.0.0.1", f"port={port}") if port else settings
        self._fill()
        socket = f"host={quote(str(self.folder), safe='')}{f'&port={port}' if port else ''}"
        super().__init__(f"postgresql://postgres@/postgres?{socket}")
        self.start()

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def start(self) -> None:
        options = " ".join(["-c listen_addresses=''", f"-k {self.folder}", *(f"-c {one}" for one in self._settings)])
        self._killed = False
        self._run("pg_ctl", "-D", self.data, "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def kill(self) -> None:
        """End the server at once with all its processes, as a machine ends that loses its power."""
        pid = (Path(self.data) / "postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for one in (pid, *children):
            with suppress(ProcessLookupError):
                os.kill(int(one), signal.SIGKILL)
        while any(_runs(one) for one in (pid, *children)):
            time.sleep(0.01)
        for lock in (Path(self.data) / "postmaster.pid", *self.folder.glob(".s.PGSQL.*.lock")):
            lock.unlink()  # it holds the number of a dead process, which may not have been buried yet
        self._killed = True

    def remove(self, of_process: int) -> None:
        """At the end of the process that started it, and of none that was forked from it."""
        if of_process == os.getpid() and self.folder.exists():
            if self._killed:
                self.start()  # which takes the memory that the killed one shared
            self._end()

    def _end(self) -> None:
        """Stop it and remove its folder. It may be gone by itself, and leaves its number behind where it was killed."""
        if (self.folder / "data" / "postmaster.pid").exists():
            with suppress(AssertionError):
                self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _fill(self) -> None:
        """Make the data folder."""
        self._run(
            "initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"
        )

    def _sweep(self, base: Path) -> None:
        """Stop and remove servers whose process was killed before it could do so."""
        for left in base.glob(f"{PREFIX}*/owner"):
            try:
                if left.stat().st_uid != os.geteuid() or _lives(left.read_text()):
                    continue
                left.rename(left.with_name("swept"))  # of several that sweep at once, one gets it
            except FileNotFoundError:
                continue
            self.folder = left.parent
            self._end()

    def _run(self, program: str, *arguments: str) -> None:
        extra = (
            {} if self._user is None else {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        )
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            text=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, **extra,
        )  # fmt: skip
        assert done.returncode == 0, f"{program} failed:\n{done.stdout}"


def server() -> Server:
    """The one server of this process."""
    if not _started:
        given = os.environ.get("HOLDFAST_TEST_POSTGRES")
        _started.append(Server(given) if given else OwnServer())
        atexit.register(_started[0].drop_template) if given else None
    return _started[0]


def programs() -> Path:
    """The folder of an installed PostgreSQL's programs; the newest where there are several."""
    found = _installed()
    if found is None:
        _install()
        found = _installed()
        assert found is not None, f"{PACKAGE} was installed, but its programs were not found"
    return found


def _installed() -> Path | None:
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if versions:
        return versions[-1].parent
    initdb = shutil.which("initdb")
    return None if initdb is None else Path(initdb).resolve().parent


def _install() -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise SystemExit(
            "No PostgreSQL was found. Install one (Debian, Ubuntu: sudo apt-get install postgresql), or name a running one "
            "in HOLDFAST_TEST_POSTGRES, and try again."
        )
    print(f"No PostgreSQL was found: about to install the package {PACKAGE} with apt-get", file=sys.stderr)  # noqa: T201
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", PACKAGE]
    if subprocess.run(install, env=environment, stdout=sys.stderr, check=False).returncode:
        subprocess.run(["apt-get", "update"], env=environment, stdout=sys.stderr, check=True)
        subprocess.run(install, env=environment, stdout=sys.stderr, check=True)


def _in_memory() -> Path:
    """Where nothing has to be kept, and a disk would only be slower."""
    return _MEMORY if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())


def _lives(process: str) -> bool:
    try:
        os.kill(int(process or 0), 0)  # nothing written yet: zero, our own group, which lives
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _runs(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def unprivileged() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")
