"""Signals between the processes of one machine: a datagram socket per listening process, in a private folder.

One datagram per commit goes to each listener. Nobody listens: the folder is absent or empty, and telling costs one look
at its time stamp. A listener that died leaves its socket behind; whoever first fails to reach it removes it.
"""

from __future__ import annotations

import os
from errno import ENOSPC
from time import time_ns

from holdfast.model.errors import StoreError
from holdfast.model.news import News

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LONGEST_PATH = 100  # a socket's path may have 107 bytes
_LONGEST_NAME = 60
_MOST_JOBS = 16
_LARGEST = 4096
_MOST_AT_ONCE = 256
_TICK_NS = 50_000_000  # longer than a tick of any file system's clock


def folder_of(path: str) -> str:
    """The private folder beside a database file: sockets of listeners, locks of living workers."""
    return f"{path}-holdfast"


def make_folder(path: str) -> str:
    """The same, made for its owner alone if it is not there."""
    folder = folder_of(path)
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102
    except FileExistsError:
        return folder
    except OSError as error:
        raise unusable(folder, error) from None
    return folder


def unusable(path: str, error: OSError) -> StoreError:
    """What to say when something beside the database cannot be made."""
    if error.errno == ENOSPC:
        return StoreError("STORE_FULL", f"{path}: no space is left; free some, then try again")
    return StoreError("STORE_CANNOT_OPEN", f"{path}: {error.strerror}; check that the folder exists and is writable")


class Teller:
    """Tells every listener of a file's changes. Never raises, never waits."""

    def __init__(self, path: str) -> None:
        self._folder = folder_of(path)
        self._seen = -1
        self._names: list[str] = []
        self._socket: Any = None

    def __call__(self, news: News) -> None:
        names = self._listeners()
        if not names:
            return
        message = _pack(news)
        for name in names:
            self._send(name, message)

    def __del__(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def _listeners(self) -> list[str]:
        if not os.access(self._folder, os.F_OK):  # cheaper than the error of a stat that fails
            return []
        try:
            changed = os.stat(self._folder).st_mtime_ns  # noqa: PTH116
            if changed != self._seen:
                self._names = [name for name in os.listdir(self._folder) if name.endswith(".socket")]  # noqa: PTH208
                # Another change in the same tick would leave the time stamp as it is: look again until it is over.
                self._seen = changed if time_ns() - changed > _TICK_NS else -1
        except OSError:
            return []
        return self._names

    def _send(self, name: str, message: bytes) -> None:
        if self._socket is None:
            from _socket import AF_UNIX, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, socket  # noqa: PLC0415

            self._socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC)
        path = f"{self._folder}/{name}"
        try:
            with _Short(path) as short:
                self._socket.sendto(message, short)
        except ConnectionRefusedError:  # its process is gone
            _remove(path)
        except OSError:  # full, or removed a moment ago: it will look by itself
            return


class Listener:
    """Hears of changes made by other processes. `fileno()` is for selectors and event loops."""

    proven = True  # a datagram to a file of this machine either arrives or is an error
    fetch: Callable[[], bool] | None = None  # who reads the socket is awake
    patience = 1.0  # a look at a file costs little, and finds what was committed on a caller's own connection

    def __init__(self, path: str, name: str) -> None:
        from _socket import AF_UNIX, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, socket  # noqa: PLC0415

        self.name = _file_name(name)
        self._path = f"{make_folder(path)}/{self.name}"
        self._socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC)
        try:
            with _Short(self._path) as short:
                self._socket.bind(short)
        except OSError as error:
            self._socket.close()
            raise unusable(self._path, error) from None

    def fileno(self) -> int:
        """Readable when there is news."""
        return int(self._socket.fileno())

    def receive(self) -> News:
        """News that has come; empty if none. Anyone may have sent it: it is only ever a reason to look.

        A flood is taken a part at a time, so that the caller gets to other things.
        """
        news = News()
        try:
            for _ in range(_MOST_AT_ONCE):
                _unpack(self._socket.recv(_LARGEST), news)
        except BlockingIOError:
            return news
        return news

    def doubt(self) -> None:
        """A socket of this machine is as good as it was."""

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()
        _remove(self._path)


def _file_name(name: str) -> str:
    plain = name.replace("/", "_").replace(":", "-")
    return f"{plain[-_LONGEST_NAME:]}.socket"  # the end of an owner's name is what makes it unique


class FolderSignal:
    """The promises of the port, for a database that is a file."""

    word = None

    def __init__(self, path: str) -> None:
        self._path = path
        self.tell = Teller(path)

    def tell_early(self, news: News) -> None:
        """Who hears looks at the file once a second anyway."""

    def listen(self, name: str) -> Listener:
        """An ear under a name of its own."""
        return Listener(self._path, name)

    def forget(self, name: str) -> None:
        """Remove what the ear of a process that was killed left behind."""
        _remove(f"{folder_of(self._path)}/{_file_name(name)}")

    def folder(self) -> str:
        """The private folder beside the file."""
        return make_folder(self._path)

    def close(self) -> None:
        """All is told already."""


class _Short:
    """A path short enough for a socket: long ones go through the descriptor of their folder."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> str:
        if len(os.fsencode(self._path)) <= _LONGEST_PATH:
            return self._path
        folder, name = os.path.split(self._path)
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._descriptor}/{name}"

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def _remove(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError:
        return


def _pack(news: News) -> bytes:
    jobs = news.jobs if len(news.jobs) <= _MOST_JOBS else ["*"]
    queues = sorted(news.queues)[:_MOST_JOBS]
    groups = sorted(news.groups) if len(news.groups) <= _MOST_JOBS else ["*"]
    return "\n".join(["\t".join(queues), "\t".join(jobs), "\t".join(groups)]).encode()[:_LARGEST]


def _unpack(message: bytes, news: News) -> None:
    queues, _, rest = message.decode(errors="replace").partition("\n")
    jobs, _, groups = rest.partition("\n")
    news.queues.update(filter(None, queues.split("\t")))
    news.jobs.extend(filter(None, jobs.split("\t")))
    news.groups.update(filter(None, groups.split("\t")))
