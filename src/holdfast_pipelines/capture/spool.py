"""Sanitised records that wait for the database: one file each, in the order of capture."""

from __future__ import annotations

import os
from _stat import S_ISREG
from time import time_ns

from holdfast_pipelines.capture.places import make_folder, write_private
from holdfast_pipelines.capture.texts import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SUFFIX = ".json"


def put(folder: str, record: dict[str, Any]) -> None:
    """Keep a record: whole and on the disk when this returns, or not at all."""
    make_folder(folder)
    name = f"{time_ns():020}-{record['id']}{_SUFFIX}"
    temporary = os.path.join(folder, f".{name}")  # noqa: PTH118
    try:
        write_private(temporary, dumps(record).encode())
        os.rename(temporary, os.path.join(folder, name))  # noqa: PTH104, PTH118
    except OSError:
        if os.path.exists(temporary):  # noqa: PTH110
            os.unlink(temporary)  # noqa: PTH108
        raise


def waiting(folder: str) -> list[str]:
    """The files that wait, oldest first."""
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except FileNotFoundError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if name.endswith(_SUFFIX) and name[0] != "."]  # noqa: PTH118


def take(path: str) -> dict[str, Any] | None:
    """The record of a file; None if another process was faster. What is no record is put aside, whatever it is."""
    try:
        record = loads(_content(path).decode())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("messages"), list):
        put_aside(path)
        return None
    return record


def put_aside(path: str) -> None:
    """It is no record: whoever comes next must not meet it again."""
    os.rename(path, f"{path}.unreadable")  # noqa: PTH104


def _content(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not keep the hook waiting
    try:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError
        return b"".join(iter(lambda: os.read(descriptor, 1 << 20), b""))
    finally:
        os.close(descriptor)


def done(path: str) -> None:
    """The record is in the database: its file is of no more use."""
    try:
        os.unlink(path)  # noqa: PTH108
    except FileNotFoundError:
        return
