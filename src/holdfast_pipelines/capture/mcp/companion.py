"""The worker that a server of learnings carries: a process of its own, which ends when its standard input does.

The server holds the other end of that pipe and writes nothing. However the server ends, the pipe ends with it.
A user has a server for each open session, and one worker is enough: the first companion to get the lock works, and the
others wait for it, as bare interpreters.

    python -P -m holdfast_pipelines.capture.mcp.companion URL LOCKFILE
"""

from __future__ import annotations

import fcntl
import os
import runpy
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from time import sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast_pipelines.capture.places import Places

_STOP_SECONDS = 2  # for what runs; what does not end is run again by whoever comes next
_LONGEST_END = 10
_WAIT = 1.5  # clients give a server two seconds to end
_NICE = 10


@contextmanager
def carried(places: Places, environment: Mapping[str, str]) -> Iterator[None]:
    """Carry a worker while the block lasts. Without one the server still answers, so it says why and goes on."""
    try:
        companion = _started(places, environment)
    except OSError as error:
        sys.stderr.write(f"no worker is carried: {error.strerror}; `holdfast capture doctor` says what is wrong\n")
        yield
        return
    assert companion.stdin is not None
    try:
        yield
    finally:
        companion.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            companion.wait(_WAIT)


def _started(places: Places, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    os.makedirs(places.folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    program = [sys.executable, "-P", "-m", __name__, places.url, f"{places.database}-worker.lock"]
    # Not in the project's folder: a worker looks for modules, and for settings, where it stands.
    return subprocess.Popen(  # noqa: S603  # our own interpreter and module
        program,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,  # the server's own is for the protocol alone
        cwd=places.folder,
        env={**environment, "HOLDFAST_CAPTURE_FOLDER": places.folder},
    )


def main(url: str, lock: str) -> None:
    """Wait for the turn, then work; ends with standard input."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    os.nice(_NICE)
    os.makedirs(os.path.dirname(lock), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    with suppress(OSError):  # a file system without locks: several workers do no harm
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    spec = "holdfast_pipelines.capture.work:app"
    sys.argv = ["holdfast", "worker", spec, "--url", url, "--stop-seconds", str(_STOP_SECONDS)]
    runpy.run_module("holdfast.cli", run_name="__main__", alter_sys=True)


def _end_with_input() -> None:
    while os.read(0, 4096):
        continue
    os.kill(os.getpid(), signal.SIGTERM)  # one that waits ends at once, one that works in good order
    sleep(_LONGEST_END)
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
