"""A RabbitMQ for the tests.

One that HOLDFAST_TEST_RABBITMQ names is used as it is: a URL of a user who may declare exchanges and queues. Else an
installed one is started on private ports and in a private folder. Its start takes ten seconds, so all processes of a
test session share one: whoever needs it first starts it, and whoever leaves last stops it. Where none is installed,
root on Debian or Ubuntu installs the distribution's package; anyone else is told which command to run.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pika
from pika.exceptions import AMQPError

from tests.servers.packages import free_port, program

_BIN = "/usr/lib/rabbitmq/bin"
_PATIENCE = 90
_CONFIG = """
listeners.tcp.1 = 127.0.0.1:{port}
loopback_users = none
log.file.level = warning
disk_free_limit.absolute = 1MB
"""
_started: list[Server] = []


SETTING = "HOLDFAST_TEST_RABBITMQ"


def installed() -> str:
    """The server's program; it is installed if need be."""
    return program("rabbitmq-server", package="rabbitmq-server", setting=SETTING, also=_BIN)


class Server:
    """A running server."""

    def __init__(self, url: str) -> None:
        self.url = url


class OwnServer(Server):
    """A server in a folder of its own; it may be stopped and started again, at the same address."""

    def __init__(self, folder: str | None = None) -> None:
        self._program = installed()
        self.folder = Path(folder or tempfile.mkdtemp(prefix="holdfast-rabbit-"))
        self._ports = self._chosen_ports()
        self._process: subprocess.Popen[bytes] | None = None
        super().__init__(f"amqp://guest:guest@127.0.0.1:{self._ports[0]}/")

    def start(self) -> None:
        """Returns when it answers."""
        port, distribution, names = self._ports
        (self.folder / "rabbitmq.conf").write_text(_CONFIG.format(port=port))
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "RABBITMQ_NODENAME": f"holdfast{port}@localhost",
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "logs"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none",
            "ERL_EPMD_PORT": str(names),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
        }
        own = f"{_BIN}/rabbitmq-server"  # the one in the path changes users and folders
        with (self.folder / "log").open("ab") as log:
            self._process = process = subprocess.Popen(
                [own if Path(own).exists() else self._program],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        (self.folder / "group").write_text(str(process.pid))
        give_up = time.monotonic() + _PATIENCE
        while not self.answers():
            alive = process.poll() is None and time.monotonic() < give_up
            assert alive, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.2)

    def stop(self) -> None:
        """At once, with its helpers; what it kept stays for the next start."""
        with suppress(FileNotFoundError, ProcessLookupError):
            os.killpg(int((self.folder / "group").read_text()), signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
            self._process = None
        self._stop_helpers()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._ports[0]), 5).close()  # quieter than the driver
            pika.BlockingConnection(pika.URLParameters(self.url)).close()
        except (AMQPError, OSError):
            return False
        return True

    def _chosen_ports(self) -> list[int]:
        chosen = self.folder / "ports.json"
        if not chosen.exists():
            chosen.write_text(json.dumps([free_port(), free_port(), free_port()]))
        ports: list[int] = json.loads(chosen.read_text())
        return ports

    def _stop_helpers(self) -> None:
        """What Erlang starts in sessions of its own (its name server among them) bears our folder as its home."""
        mark = f"HOME={self.folder}".encode()
        give_up = time.monotonic() + 10
        while helpers := [pid for pid in _processes() if mark in _environment(pid)]:
            assert time.monotonic() < give_up, f"processes of RabbitMQ would not end: {helpers}"
            for pid in helpers:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)


class _Shared:
    """One server for all processes that name the same session; counted in a file beside it."""

    def __init__(self, session: str) -> None:
        self._folder = Path(tempfile.gettempdir()) / f"holdfast-rabbit-{os.getuid()}-{session}"
        self._lock = Path(f"{self._folder}.lock")

    def enter(self) -> OwnServer:
        with self._locked():
            self._folder.mkdir(mode=0o700, exist_ok=True)
            server = OwnServer(str(self._folder))
            users = self._living()
            if not users:
                server.start()
            self._write([*users, os.getpid()])
        atexit.register(self.leave, server, os.getpid())
        return server

    def leave(self, server: OwnServer, of_process: int) -> None:
        if of_process != os.getpid():  # forked from the one that entered
            return
        with self._locked():
            users = [pid for pid in self._living() if pid != of_process]
            self._write(users)
            if not users:
                server.remove()
                self._lock.unlink(missing_ok=True)

    def _living(self) -> list[int]:
        with suppress(FileNotFoundError, ValueError):
            users = json.loads((self._folder / "users").read_text())
            return [pid for pid in users if Path(f"/proc/{pid}").exists()]
        return []

    def _write(self, users: list[int]) -> None:
        (self._folder / "users").write_text(json.dumps(users))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        while True:
            with self._lock.open("a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if self._lock.exists() and os.fstat(file.fileno()).st_ino == self._lock.stat().st_ino:
                    yield
                    return


def server() -> Server:
    """The one server of this session."""
    if not _started:
        given = os.environ.get(SETTING)
        _started.append(Server(given) if given else _Shared(_session()).enter())
    return _started[0]


def _session() -> str:
    """The same in every process of one test run."""
    return os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())


def _processes() -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal()]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


if __name__ == "__main__":  # a server to play with, until Ctrl-C
    one = OwnServer()
    one.start()
    sys.stdout.write(one.url + "\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):
        signal.pause()
    one.remove()
