"""A Redis for the tests.

One that HOLDFAST_TEST_REDIS names is used as it is. Else an installed one is started on a private port and in a private
folder, for as long as the process that started it lives. Where none is installed, root on Debian or Ubuntu installs the
distribution's package; anyone else is told which command to run.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import redis

from tests.servers.packages import free_port, program

_started: list[Server] = []


SETTING = "HOLDFAST_TEST_REDIS"


def installed() -> str:
    """The server's program; it is installed if need be."""
    return program("redis-server", package="redis-server", setting=SETTING)


class Server:
    """A running server."""

    def __init__(self, url: str) -> None:
        self.url = url


class OwnServer(Server):
    """A server of this process; it may be stopped, frozen and started again, at the same address."""

    def __init__(self) -> None:
        self._program = installed()
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-redis-"))
        self._port = free_port()
        super().__init__(f"redis://127.0.0.1:{self._port}/0")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()
        atexit.register(self.remove, os.getpid())

    def start(self) -> None:
        arguments = ["--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", ""]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([self._program, *arguments], stdout=log, stderr=log, process_group=0)
        give_up = time.monotonic() + 10
        while not self._answers():
            assert time.monotonic() < give_up, (self.folder / "log").read_text()
            time.sleep(0.02)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def remove(self, of_process: int) -> None:
        """At the end of the process that started it, and of none that was forked from it."""
        if of_process == os.getpid():
            self.stop()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url) as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False


def server() -> Server:
    """The one server of this process."""
    if not _started:
        given = os.environ.get(SETTING)
        _started.append(Server(given) if given else OwnServer())
    return _started[0]
