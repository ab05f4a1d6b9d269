"""Lines of JSON between the supervisor and its template."""

from __future__ import annotations

import json
import socket
from typing import Any


class Channel:
    """One end. `receive` gives whole messages only; an empty answer after `closed` means the other end is gone."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest = b""
        self.closed = False

    def fileno(self) -> int:
        """For selectors."""
        return self._end.fileno()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message; a gone other end is noticed by `receive`."""
        try:
            self._end.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self.closed = True

    def receive(self) -> list[dict[str, Any]]:
        """Wait for data and give the messages that are complete."""
        try:
            data = self._end.recv(1 << 20)
        except OSError:
            data = b""
        if not data:
            self.closed = True
            return []
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Hang up."""
        self._end.close()
