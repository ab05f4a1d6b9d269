"""Which workers of this machine live: each holds a lock on a file of its own name, which the kernel lets go at death.

So the leases of a killed worker can be ended within a second instead of when they run out. Beside the file is a room:
a folder for what the worker keeps while it lives, and for what others may read there when it is dead.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from holdfast.signals.folder import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDING = ".lock"
_ROOM = ".room"


class Dead(NamedTuple):
    """A worker whose process is gone."""

    owner: str
    room: str


class Presence:
    """Held while the owner lives."""

    def __init__(self, folder: str, owner: str) -> None:
        name = f"{folder}/{owner.replace('/', '_').replace(':', '-')}"
        self.room = name + _ROOM
        self._path = name + _ENDING
        try:
            self._appear(owner)
        except OSError as error:
            raise unusable(folder, error) from None

    def _appear(self, owner: str) -> None:
        os.makedirs(self.room, 0o700)  # noqa: PTH103
        # Locked before it can be seen under its name: nobody can take the living for dead.
        hidden = f"{self._path}.{os.getpid()}"
        self._descriptor = os.open(hidden, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        os.write(self._descriptor, owner.encode())
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        os.rename(hidden, self._path)  # noqa: PTH104

    def end(self) -> None:
        """Say goodbye."""
        shutil.rmtree(self.room, ignore_errors=True)
        with suppress(FileNotFoundError):  # somebody may have tidied up
            os.unlink(self._path)  # noqa: PTH108
        os.close(self._descriptor)


def dead_owners(folder: str) -> Iterator[Dead]:
    """Owners whose process is gone; each is yielded to one caller alone, and forgotten when that caller goes on."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(_ENDING)]  # noqa: PTH208
    except FileNotFoundError:
        return
    for name in names:
        path = f"{folder}/{name}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:  # gone a moment ago, or another user's
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:  # else another caller has dealt with it
                room = path.removesuffix(_ENDING) + _ROOM
                yield Dead(os.read(descriptor, 1024).decode(), room)
                shutil.rmtree(room, ignore_errors=True)
                os.unlink(path)  # noqa: PTH108
        except BlockingIOError:
            continue
        finally:
            os.close(descriptor)
