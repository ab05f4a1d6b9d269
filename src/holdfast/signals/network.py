"""What a server that passes messages on must offer, and how its troubles are told."""

from __future__ import annotations

import logging
from typing import Protocol

from holdfast.model.failure import scrub

log = logging.getLogger("holdfast.signals")

ANSWER_SECONDS = 5.0  # a server that has not answered by then is away
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
_LONGEST_REASON = 200


class Line(Protocol):
    """One connection. Used by one thread."""

    def send(self, message: bytes) -> None:
        """Pass a message on to everyone who hears; returns when the server has taken it."""

    def receive(self, seconds: float, most: int) -> list[bytes]:
        """What came, waiting at most so long for the first; raises when the connection is lost."""

    def keep(self) -> None:
        """Called now and then while nothing is sent: answer the server's questions, notice that it is gone."""

    def close(self) -> None:
        """Hang up."""


class Network(Protocol):
    """A server that passes messages on."""

    name: str
    suspect: str  # what to look at when nothing comes through, though the server answers
    stores_jobs: bool  # whether it is the very server that stores the jobs, so that a commit can carry a message

    def connect(self, *, hear: bool) -> Line:
        """A new connection: one that hears, or one that only tells."""


class NotThrough(Exception):
    """A probe did not come back over a line that worked before."""

    def __init__(self) -> None:
        super().__init__("what is told does not come through any more")


class Trouble:
    """Says once that something is wrong, once that it is over, and how long to rest before the next try."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._pause = 0.0

    def pause(self, error: Exception) -> float:
        """It went wrong (again)."""
        if not self._pause:
            log.warning("%s: %s (%s)", self._name, self._text, reason(error))
        self._pause = min(LONGEST_PAUSE, max(SHORTEST_PAUSE, self._pause * 2))
        return self._pause

    def over(self) -> None:
        """It went well."""
        if self._pause:
            log.warning("%s: signals get through again", self._name)
        self._pause = 0.0


def reason(error: Exception) -> str:
    """One line on what a driver raised, fit for a log."""
    text = " ".join(str(error).split())
    return scrub(f"{type(error).__name__}: {text}" if text else type(error).__name__)[:_LONGEST_REASON]


def hang_up(line: Line | None) -> None:
    """Close a line, whatever state it is in."""
    if line is None:
        return
    try:
        line.close()
    except Exception:  # noqa: BLE001  # it is gone either way
        return
