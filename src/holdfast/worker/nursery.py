"""The supervisor's end of the template process: starts it, asks it for children, hears of their births and deaths."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.worker.channel import Channel
from holdfast.worker.death import describe_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.worker.options import Options

HELLO_SECONDS = 120.0
_LAST_WAIT = 2.0


class Nursery:
    """One template. When it is gone its children are gone too, and a new nursery is needed."""

    def __init__(self, options: Options) -> None:
        ours, theirs = socket.socketpair()
        # -P: what lies in the working folder must not take the place of our own modules.
        command = [sys.executable, "-P", "-m", "holdfast.worker.template", str(theirs.fileno()), str(os.getpid()),
                   options.folder, options.log_level, options.spec, options.url or ""]  # fmt: skip
        # Not as arguments: addresses may hold a password, which everyone on the machine could read.
        said = {"HOLDFAST_SIGNAL": options.signal, "HOLDFAST_URL": options.url_otherwise}
        environment = os.environ | {name: value for name, value in said.items() if value}
        self._template = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)  # noqa: S603  # our own
        theirs.close()
        self._channel = Channel(ours)
        self.refused = False

    def hello(self, wanted: Callable[[], bool]) -> dict[str, Any] | None:
        """What the application is, once it is loaded; None if it cannot be (refused), died, or is no longer wanted."""
        give_up = monotonic() + HELLO_SECONDS
        while monotonic() < give_up and not self.gone and wanted():
            if not select.select([self._channel], [], [], 0.1)[0]:
                continue
            for message in self._channel.receive():
                if "hello" in message:
                    told: dict[str, Any] = message["hello"]
                    return told
                _report(message)
                self.refused = True
        self.refused = self.refused or monotonic() >= give_up
        self._template.kill()
        self.close()
        return None

    def fileno(self) -> int:
        """For selectors."""
        return self._channel.fileno()

    @property
    def gone(self) -> bool:
        """Whether the template has died, and its children with it."""
        return self._channel.closed

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        return describe_code(self._template.returncode or 0)

    def fork(self, config: Mapping[str, Any]) -> None:
        """Ask for a child."""
        self._channel.send({"fork": config})

    def news(self) -> list[dict[str, Any]]:
        """Births and deaths since the last look."""
        return self._channel.receive()

    def close(self) -> None:
        """End the template; it takes its children along. One that does not heed is killed."""
        self._channel.close()
        try:
            self._template.wait(_LAST_WAIT)
        except subprocess.TimeoutExpired:
            self._template.kill()
            self._template.wait()


def _report(message: Mapping[str, Any]) -> None:
    if os.environ.get("HOLDFAST_DEBUG"):
        sys.stderr.write(message.get("traceback", ""))
    sys.stderr.write(f"error {message['code']}: {message['error']}\n")
