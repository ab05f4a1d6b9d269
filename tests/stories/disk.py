"""A disk as a power cut may leave it, built from a recording.

Sure to be there: what was written before a sync began that has ended. Of all else, any part may be there, in any
order, torn at sectors of 512 bytes. The same holds for names: a new file, or the end of an old one, is sure only once
the folder was synced.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

from tests.stories.recording import Kind, Step

SECTOR = 512


class _Pending(NamedTuple):
    at: int  # the place in the log
    step: Step


class _File:
    """One file: two files of the same name, one after the other, are two of these."""

    def __init__(self) -> None:
        self.sure = bytearray()
        self.pending: list[_Pending] = []

    def settle(self, before: int) -> None:
        for pending in self.pending:
            if pending.at < before:
                _apply(self.sure, pending.step)
        self.pending = [pending for pending in self.pending if pending.at >= before]


class Disk:
    """Follows a recording step by step; `cut` shows what would be left right now."""

    def __init__(self) -> None:
        self._now: dict[str, _File] = {}
        self._sure_names: dict[str, _File] = {}
        self._pending_names: list[tuple[int, str, _File | None]] = []
        self._syncs: dict[tuple[str, int], int] = {}
        self._at = 0

    def follow(self, step: Step) -> None:
        self._at += 1
        match step.kind:
            case Kind.WRITE | Kind.TRUNCATE:
                self._file(step.name).pending.append(_Pending(self._at, step))
            case Kind.SYNC_BEGINS:
                self._syncs[step.name, step.offset] = self._at
            case Kind.SYNC_ENDS:
                self._settle(step.name, self._syncs.pop((step.name, step.offset)))
            case Kind.UNLINK:
                self._now.pop(step.name, None)
                self._pending_names.append((self._at, step.name, None))

    def cut(self, chance: random.Random) -> dict[str, bytes]:
        """Name -> content, as one power cut at this point could leave them."""
        settled = self._pending_names[: chance.randint(0, len(self._pending_names))]
        names = self._sure_names | {name: file for _, name, file in settled}
        return {name: _left(file, chance) for name, file in names.items() if file is not None}

    def _file(self, name: str) -> _File:
        if name not in self._now:
            self._now[name] = _File()
            self._pending_names.append((self._at, name, self._now[name]))
        return self._now[name]

    def _settle(self, name: str, before: int) -> None:
        if name:
            self._file(name).settle(before)
            return
        for at, changed, file in self._pending_names:
            if at < before and file is None:
                self._sure_names.pop(changed, None)
            elif at < before and file is not None:
                self._sure_names[changed] = file
        self._pending_names = [change for change in self._pending_names if change[0] >= before]


def _left(file: _File, chance: random.Random) -> bytes:
    image = bytearray(file.sure)
    for step in _survivors([pending.step for pending in file.pending], chance):
        _apply(image, step, chance if chance.random() < 0.2 else None)
    return bytes(image)


def _survivors(steps: list[Step], chance: random.Random) -> list[Step]:
    """None, all up to some point, or any of them."""
    match chance.randrange(4):
        case 0:
            return []
        case 1:
            return steps[: chance.randint(0, len(steps))]
        case _:
            return [step for step in steps if chance.random() < 0.5]


def _apply(image: bytearray, step: Step, torn: random.Random | None = None) -> None:
    end = step.offset + len(step.data)
    if len(image) < end:
        image.extend(bytes(end - len(image)))
    if step.kind is Kind.TRUNCATE:
        del image[step.offset :]
    elif torn is None:
        image[step.offset : end] = step.data
    else:
        for begin in range(0, len(step.data), SECTOR):
            if torn.random() < 0.5:
                part = step.data[begin : begin + SECTOR]
                image[step.offset + begin : step.offset + begin + len(part)] = part


def write_image(image: dict[str, bytes], folder: Path) -> None:
    """Lay the files down in a folder that held an earlier image."""
    for old in folder.iterdir():
        if old.name not in image:
            old.unlink()
    for name, content in image.items():
        (folder / name).write_bytes(content)
