"""The recorder's log: how it is made, read, and marked with what callers were promised."""

from __future__ import annotations

import os
import struct
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from tests.stories.preloaded import compiled

_HEAD = struct.Struct("<IIQQ40s")
_MAGIC = 0xD15C0001


class Kind(IntEnum):
    """The recorder's own five, and the mark of a worker."""

    WRITE = 1
    TRUNCATE = 2
    SYNC_BEGINS = 3
    SYNC_ENDS = 4
    UNLINK = 5
    PROMISE = 6


class Step(NamedTuple):
    """One thing that happened to a file, or one promise to a caller (its text in `data`)."""

    kind: Kind
    name: str
    offset: int
    data: bytes


def build_recorder(folder: Path) -> Path:
    """Compile the recorder into a folder of the test's own."""
    return compiled("recorder.c", folder)


def recorded_environment(library: Path, folder: Path, log: Path) -> dict[str, str]:
    """What makes a process write down all it does to the files of a folder."""
    return {
        "LD_PRELOAD": str(library),
        "HOLDFAST_RECORD_FOLDER": str(folder),
        "HOLDFAST_RECORD_LOG": str(log),
    }


class Promises:
    """Marks in the log: whatever was promised before this point must survive a cut behind it."""

    def __init__(self, log: str) -> None:
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND)

    def enqueued(self, job_id: str) -> None:
        self._mark(f"{job_id}")

    def finished(self, job_id: str, result: str) -> None:
        self._mark(f"{job_id} {result}")

    def _mark(self, text: str) -> None:
        data = text.encode()
        record = _HEAD.pack(_MAGIC, Kind.PROMISE, 0, len(data), b"") + data
        assert os.write(self._log, record) == len(record)


def read_steps(log: Path) -> list[Step]:
    """The whole log, in order."""
    text, at, steps = log.read_bytes(), 0, []
    while at < len(text):
        magic, kind, offset, length, name = _HEAD.unpack_from(text, at)
        assert magic == _MAGIC, f"the log is broken at byte {at}"
        at += _HEAD.size
        steps.append(Step(Kind(kind), name.rstrip(b"\0").decode(), offset, text[at : at + length]))
        at += length
    return steps
