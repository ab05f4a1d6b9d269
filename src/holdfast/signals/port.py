"""What every signal promises: hints between the processes that use one store.

A hint may be lost, late, forged or repeated; it is only ever a reason to look. Nothing waits for one alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.model.news import News


class Ear(Protocol):
    """Hears of commits of other processes."""

    proven: bool  # whether what is told gets through; until then, poll as if there were no signal
    patience: float  # seconds that who hears by a proven ear may rest between looks of its own
    fetch: Callable[[], bool] | None  # asked first where the ear has a thread; what it sees to is not told any further

    def fileno(self) -> int:
        """Readable when there may be news: for selectors and event loops."""

    def receive(self) -> News:
        """What was heard since the last time; empty if nothing was. Never waits."""

    def doubt(self) -> None:
        """The store was away, and with it perhaps what is told: not proven until it has been tried again."""

    def close(self) -> None:
        """Hear no more."""


class Signal(Protocol):
    """The way between the processes of one store, and their common room on this machine."""

    @property
    def word(self) -> Callable[[News], str | None] | None:
        """Makes a message for the store to send with a commit, or says that there is to be none; None if a commit of
        this store carries no messages.
        """

    def tell(self, news: News) -> None:
        """Tell the others what a commit changed. Never raises, never waits."""

    def tell_early(self, news: News) -> None:
        """Tell of what its caller has yet to commit: several times, for as long as a transaction usually takes."""

    def listen(self, name: str) -> Ear:
        """An ear under a name of its own."""

    def forget(self, name: str) -> None:
        """Remove what the ear of a process that was killed left behind."""

    def folder(self) -> str:
        """A folder of this machine, for its owner alone: locks of living workers and what they keep."""

    def close(self) -> None:
        """Tell what is still to be told, and tell no more."""
