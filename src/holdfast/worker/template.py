"""The template: a process that has the application imported and forks children from it, on the supervisor's word.

It runs no thread and no event loop, so that every child starts from a quiet state. It dies with its supervisor, and its
children die with it.
"""

from __future__ import annotations

import gc
import logging
import os
import select
import signal
import socket
import sys
import traceback
from contextlib import suppress
from typing import Any

from holdfast.model.errors import StoreError
from holdfast.worker.application import Application, describe
from holdfast.worker.channel import Channel
from holdfast.worker.child import child_main
from holdfast.worker.death import die_with, kill_group
from holdfast.worker.loading import load_app, not_loaded


def main(arguments: list[str]) -> int:
    """`python -m holdfast.worker.template DESCRIPTOR PARENT FOLDER LOGLEVEL SPEC URL`; an empty URL: the app's own."""
    descriptor, parent, folder, level, spec, url = arguments
    die_with(int(parent))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to us too; the supervisor decides
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # waits until a child has a handler for it
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    channel = Channel(socket.socket(fileno=int(descriptor)))
    try:
        app = load_app(spec, folder, url)
        app.registry.policies()
        told = describe(app)
    except BaseException as error:  # noqa: BLE001  # user code may raise anything while it is imported
        told_why = not_loaded(error)
        channel.send({"code": told_why.code, "error": str(told_why), "traceback": traceback.format_exc()})
        channel.close()
        return 2
    _warm_up(app)
    channel.send({"hello": told})
    _serve(channel, app)
    return 0


def _warm_up(app: Application) -> None:
    """Do once what every child would do first: a job in a process of its own then starts in milliseconds."""
    for definition in app.registry:
        with suppress(Exception):  # a handler that cannot be understood fails its own jobs, not the others
            _ = definition.signature
    with suppress(StoreError):  # away: children will wait for it
        app.desk.read(lambda _: None)
    gc.collect()
    gc.freeze()  # what was made so far is shared: no collection in a child touches its pages


def _serve(channel: Channel, app: Application) -> None:
    children: set[int] = set()
    wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while not channel.closed:
        sources: list[Any] = [channel, wake_read]
        ready, _, _ = select.select(sources, [], [], 60)
        if wake_read in ready:
            os.read(wake_read, 4096)
        _reap(channel, children)
        if channel in ready:
            for message in channel.receive():
                _bear(channel, app, message["fork"], children)
    for pid in children:
        kill_group(pid)


def _bear(channel: Channel, app: Application, config: dict[str, Any], children: set[int]) -> None:
    try:
        pid = _fork(channel, app, config)
    except OSError as error:  # the machine has no room for one more; it may have later
        channel.send({"unforked": config["name"], "error": str(error)})
        return
    children.add(pid)
    channel.send({"forked": config["name"], "pid": pid})


def _fork(channel: Channel, app: Application, config: dict[str, Any]) -> int:
    template = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setpgid(0, 0)  # what a handler starts can be killed with it
        die_with(template)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel.close()
    finally:
        child_main(app, config)
    raise AssertionError("child_main never returns")


def _reap(channel: Channel, children: set[int]) -> None:
    while True:
        try:
            dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if dead is None:
            return
        if dead.si_pid in children:
            kill_group(dead.si_pid)  # what its handlers started goes too; until it is reaped, its number is its own
        pid, status, usage = os.wait4(dead.si_pid, 0)
        if pid in children:
            children.discard(pid)
            channel.send({"ended": pid, "status": status, "peak_kib": usage.ru_maxrss})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
