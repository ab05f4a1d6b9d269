"""No signal: everyone polls."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.model.news import News

if TYPE_CHECKING:
    from collections.abc import Callable


class SilentSignal:
    """Tells nobody."""

    word = None

    def __init__(self, folder: Callable[[], str]) -> None:
        self.folder = folder

    def tell(self, news: News) -> None:
        """Nobody hears."""

    def tell_early(self, news: News) -> None:
        """Nobody hears."""

    def listen(self, name: str) -> SilentEar:  # noqa: ARG002
        """An ear that hears nothing."""
        return SilentEar()

    def forget(self, name: str) -> None:
        """Nothing was left behind."""

    def close(self) -> None:
        """Nothing is left to tell."""


class SilentEar:
    """Hears nothing."""

    proven = False
    fetch: Callable[[], bool] | None = None  # there is no thread to ask it
    patience = 1.0

    def __init__(self) -> None:
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def fileno(self) -> int:
        """Never readable."""
        return self._read

    def receive(self) -> News:
        """Nothing."""
        return News()

    def doubt(self) -> None:
        """Nobody trusts it."""

    def close(self) -> None:
        """Hear no more."""
        os.close(self._read)
        os.close(self._write)
