"""No signal: everyone polls. And the folder on this machine for stores that are not files."""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from tempfile import gettempdir
from typing import TYPE_CHECKING

from holdfast.model.errors import StoreError
from holdfast.model.news import News
from holdfast.signals.folder import unusable

if TYPE_CHECKING:
    from collections.abc import Callable


class SilentSignal:
    """Tells nobody."""

    def __init__(self, folder: Callable[[], str]) -> None:
        self.folder = folder

    def tell(self, news: News) -> None:
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

    def __init__(self) -> None:
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def fileno(self) -> int:
        """Never readable."""
        return self._read

    def receive(self) -> News:
        """Nothing."""
        return News()

    def close(self) -> None:
        """Hear no more."""
        os.close(self._read)
        os.close(self._write)


def private_folder(store: str) -> str:
    """A folder of this user on this machine, one for each store: what the processes of one host share."""
    path = f"{os.environ.get('XDG_RUNTIME_DIR') or gettempdir()}/holdfast-{os.getuid()}"
    for folder in (path, f"{path}/{sha256(store.encode()).hexdigest()[:16]}"):
        try:
            os.mkdir(folder, 0o700)  # noqa: PTH102
        except FileExistsError:
            _check_private(folder)
        except OSError as error:
            raise unusable(folder, error) from None
    return folder


def _check_private(folder: str) -> None:
    """Where everyone may write, somebody else may have been here first."""
    found = os.lstat(folder)  # noqa: PTH116
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise StoreError(
            "STORE_CANNOT_OPEN", f"{folder} is not a folder for its owner alone: remove it, or set XDG_RUNTIME_DIR"
        )
