"""The processes of the storm: workers that are started, found in the process table by a private mark, and struck."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Timer
from time import monotonic, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MARK = "HOLDFAST_STORM"
_PROCESSES = Path("/proc")


def can_be_seen() -> bool:
    """Whether this machine shows the environment of processes."""
    return (_PROCESSES / "self" / "environ").exists()


def marked(mark: str) -> dict[int, int]:
    """Process -> parent, for all processes that carry the mark; this one and the dead ones left out."""
    needle = f"{MARK}={mark}".encode()
    found = {}
    for entry in _PROCESSES.iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            if needle in (entry / "environ").read_bytes().split(b"\0"):
                status = (entry / "stat").read_text().rpartition(") ")[2].split()
                if status[0] not in "ZX":
                    found[int(entry.name)] = int(status[1])
    return found


def send(pid: int, number: int) -> bool:
    """Whether the process was there to get the signal."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


class Worker:
    """One `holdfast worker`, with all that it starts."""

    def __init__(self, arguments: Iterable[str], environment: Mapping[str, str], errors: Path) -> None:
        with errors.open("a") as told:
            self.process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
                [sys.executable, "-m", "holdfast.cli", "worker", *arguments],
                env=dict(environment),
                cwd=errors.parent,
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=told,
                start_new_session=True,
            )
        self._stopped: list[int] = []
        self._thawing: Timer | None = None

    @property
    def pid(self) -> int:
        """Of the supervisor."""
        return self.process.pid

    def family(self, parents: Mapping[int, int]) -> tuple[list[int], list[int]]:
        """Its template (none or one) and its children."""
        templates = [pid for pid, parent in parents.items() if parent == self.pid]
        return templates, [pid for pid, parent in parents.items() if parent in templates]

    def freeze(self, pids: Iterable[int], seconds: float) -> None:
        """Stop some of its processes for a while. A clock wakes them: they may hold what everybody waits for."""
        self._stopped = [pid for pid in pids if send(pid, signal.SIGSTOP)]
        self._thawing = Timer(seconds, self._go_on)
        self._thawing.start()

    @property
    def frozen(self) -> bool:
        """Whether some of its processes are stopped."""
        return bool(self._stopped)

    def thaw(self) -> None:
        """Let them go on now."""
        if self._thawing is not None:
            self._thawing.cancel()
            self._thawing.join()
        self._go_on()

    def _go_on(self) -> None:
        for pid in self._stopped:
            send(pid, signal.SIGCONT)
        self._stopped = []

    def end(self, seconds: float) -> int | None:
        """Ask it to stop and wait; its exit code, None if it had to be killed."""
        self.thaw()
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self) -> None:
        """Kill the supervisor, and wait for it."""
        self.process.kill()
        self.process.wait()


def left_after(mark: str, seconds: float) -> list[int]:
    """Marked processes that are still there after a while; an empty list as soon as there are none."""
    give_up = monotonic() + seconds
    while (left := list(marked(mark))) and monotonic() < give_up:
        sleep(0.05)
    return left
