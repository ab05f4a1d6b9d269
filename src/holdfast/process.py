"""One running process: which loops and doors it carries."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from time import sleep
from typing import TYPE_CHECKING, Any

from holdfast.model.errors import StoreError
from holdfast.upkeep.alerts import alerts_of
from holdfast.upkeep.loop import Task, Upkeep
from holdfast.upkeep.retention import Heartbeat, Retention
from holdfast.upkeep.rounds import Rounds
from holdfast.upkeep.sweeper import Sweeper
from holdfast.upkeep.ticker import Ticker
from holdfast.upkeep.watchdog import Undertaker, Watchdog
from holdfast.wiring import open_signal, open_store
from holdfast.worker.lookout import Lookout
from holdfast.worker.options import Options
from holdfast.worker.slots import RETURNED
from holdfast.worker.supervisor import Supervisor
from holdfast.worker.verdicts import of_dead_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.signals.port import Signal

log = logging.getLogger("holdfast.up")

STOP_WAIT = 8.0
FULL_WAIT = 0.5
LEAST_SPACE = 1024 * 1024


def run_worker(options: Options, announce: Callable[[Supervisor], None] | None = None) -> int:
    """A supervisor with its children and the upkeep of the house; answers the exit code."""

    def carry(supervisor: Supervisor) -> Upkeep:
        if announce is not None:
            announce(supervisor)
        return _upkeep(supervisor)

    return Telling(options, open_store, open_signal, carry).run()


class Telling(Supervisor):
    """A supervisor that says what it waits for: for runs when it is told to stop, for space before it begins."""

    def _supervise(self, wake: int) -> int:
        told = False
        while self.stopping_since is None and _is_full(self.signal):
            if not told:
                log.error("no space is left on the disk: work begins when there is some")
            told = True
            sleep(FULL_WAIT)
        if self.stopping_since is None:
            return super()._supervise(wake)
        self._nursery.close()
        self.desk.close()
        self.signal.close()
        return 0

    def stop(self) -> None:
        """Drain; called again, kill."""
        first = self.stopping_since is None
        super().stop()
        if first and (runs := sum(len(child.slots.started()) for child in self.children.values())):
            many = "1 run" if runs == 1 else f"{runs} runs"
            wait = f"waiting up to {self.options.stop_seconds:g} s for {many}"
            line = f"stopping: {wait}; press Ctrl-C again to stop at once"
            with suppress(OSError):  # nobody may listen any more
                os.write(2, f"{line}\n".encode())  # as it is: this is a signal's handler, which must not take a lock


def _is_full(signals: Signal) -> bool:
    """Whether a worker could not even keep its own few files."""
    try:
        disk = os.statvfs(signals.folder())
    except StoreError as error:
        if error.code != "STORE_FULL":
            raise
        return True
    return disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < LEAST_SPACE


def run_up(
    options: Options,
    serve: Sequence[str],
    listener: socket.socket,
    announce: Callable[[Supervisor], None] | None = None,
) -> int:
    """A worker, and beside it the HTTP door in a process of its own; both end together."""
    environment = dict(os.environ, HOLDFAST_PARENT=str(os.getpid()), HOLDFAST_LISTENER=str(listener.fileno()))
    # In a group of its own: Ctrl-C reaches the supervisor alone, which ends the door when its work is done.
    door = subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-m", "holdfast.cli", "serve", *serve],
        env=environment,
        process_group=0,
        pass_fds=[listener.fileno()],
    )
    listener.close()  # the door alone answers; when it is gone, clients should hear so
    stopping = threading.Event()
    threading.Thread(target=_tell_of_its_end, args=(door, stopping), name="holdfast-door", daemon=True).start()
    try:
        return run_worker(options, announce)
    finally:
        stopping.set()
        door.send_signal(signal.SIGTERM)
        try:
            door.wait(STOP_WAIT)
        except subprocess.TimeoutExpired:
            door.kill()
            door.wait()


def _tell_of_its_end(door: subprocess.Popen[bytes], stopping: threading.Event) -> None:
    """A door that ends by itself takes no job along, but nobody should look for the page in vain."""
    code = door.wait()
    if not stopping.is_set():
        log.error("the page has ended with code %s; the worker goes on: `holdfast serve` serves it again", code)


def _upkeep(supervisor: Supervisor) -> Upkeep:
    desk, app = supervisor.desk, supervisor.app
    policies = app.policies()
    tasks: list[Task] = [
        Undertaker(desk, policies, supervisor.signal.folder(), of_dead_worker),
        Rounds(
            desk,
            Watchdog(desk, policies, app.shortest_lease()),
            Heartbeat(desk, lambda: _describe(supervisor)),
            Lookout(supervisor).look,
        ),
        Retention(desk),
        Sweeper(desk, app.sweeps()),
        Ticker(desk, app.schedules()),
        alerts_of(desk, app.alarm),
    ]
    return Upkeep(desk, supervisor.owner, tasks)


def _describe(supervisor: Supervisor) -> dict[str, Any]:
    import json  # noqa: PLC0415

    options = supervisor.options
    places = sum(filter(None, (options.queues or {}).values())) or options.coroutines + options.threads
    return {
        "id": supervisor.owner,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "lanes": json.dumps(supervisor.app.lanes()),
        "places": places * options.processes,
        "running": sum(
            run.phase != RETURNED for child in supervisor.children.values() for run in child.slots.started()
        ),  # one that has returned, and waits for its commit, has no place
    }
