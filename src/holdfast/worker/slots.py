"""The slot map: which runs a process has started, readable from outside while that process is stuck or dead.

A child writes, its supervisor reads: from here leases are renewed and time-outs enforced, and when the child dies the
map tells which of its claims had begun. The supervisor answers in one byte per slot. The memory is shared by a file
that both map; a slot is valid when its sequence is even and the same before and after reading (the writer makes it odd
while it writes).

    header  64 bytes: state u8, holds u8 (1: it claims, or holds claims), 6 unused, beat u64 (ms, monotonic: when the
            child's loop last went round), spared u64 (ms, monotonic: until when the supervisor looks for new jobs),
            told u64 (the beat after which the loop stood still, when that was told)
    slot    64 bytes: sequence u32, order u32, token u64, since u64 (ms, monotonic), limit u64 (ms, 0 = none), id 26,
            phase u8

An order names the sequence it was meant for, so one that comes late never hits the next run in the same slot.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from errno import ENOSPC
from struct import Struct
from typing import NamedTuple

from holdfast.signals.folder import unusable

_HEADER = 64
_SLOT = Struct("<IIQQQ26sB5x")
_SEQUENCE = Struct("<I")
_WORDS = Struct("<II")
_BODY = Struct("<QQQ26sB")
_BEAT = Struct("<Q")
_BEAT_AT, _SPARED_AT, _TOLD_AT = 8, 16, 24
_HOLDS_AT = 1
_BODY_AT, _SINCE_AT, _ORDER_AT, _PHASE_AT = 8, 16, 4, 58
_MASK = 0x3FFFFFFF

STARTING, READY, WORN = 0, 1, 2  # the child's own word on its state; worn: replace me
TAKEN, RUNNING, RETURNED = 0, 1, 2  # a run has a place; its handler was entered; it has returned, not durably yet
GO_ON, STOP, ASK = 0, 1, 2  # the supervisor's word on a run; stop: the lease is lost; ask: a cancel was asked for


class Started(NamedTuple):
    """A run that has begun."""

    slot: int
    sequence: int
    id: str
    token: int
    since: int
    limit: int
    phase: int


class SlotMap:
    """Both sides of the map. The file is made by whoever comes first."""

    def __init__(self, path: str, size: int) -> None:
        self.size = size
        self._path = path
        self._length = _HEADER + size * _SLOT.size
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(descriptor, self._length)
            _reserve(descriptor, path, self._length)
            self._memory = mmap.mmap(descriptor, self._length)
        finally:
            os.close(descriptor)
        self._free = list(range(size - 1, -1, -1))

    # -- the child's side

    @property
    def free(self) -> int:
        """How many more runs could be shown."""
        return len(self._free)

    def take(self, job_id: str, token: int, since: int, limit: int) -> int:
        """Show a run that begins now."""
        slot = self._free.pop()
        at = _HEADER + slot * _SLOT.size
        memory = self._memory
        (sequence,) = _SEQUENCE.unpack_from(memory, at)
        _SEQUENCE.pack_into(memory, at, (sequence + 1) | 1)
        _BODY.pack_into(memory, at + _BODY_AT, token, since, limit, job_id.encode(), TAKEN)
        _SEQUENCE.pack_into(memory, at, ((sequence + 1) | 1) + 1 & 0xFFFFFFFF)
        return slot

    def restart(self, slot: int, since: int) -> None:
        """The time-out of a run begins anew."""
        _BEAT.pack_into(self._memory, _HEADER + slot * _SLOT.size + _SINCE_AT, since)

    def enter(self, slot: int, phase: int) -> None:
        """Show that the handler is entered, or has returned."""
        self._memory[_HEADER + slot * _SLOT.size + _PHASE_AT] = phase

    def give(self, slot: int) -> None:
        """The run's ending is durable: show it no more."""
        at = _HEADER + slot * _SLOT.size + _BODY_AT + 24
        self._memory[at] = 0  # an id never begins with a zero byte
        self._free.append(slot)

    def order(self, slot: int) -> int:
        """What the supervisor wants of the run."""
        sequence, order = _WORDS.unpack_from(self._memory, _HEADER + slot * _SLOT.size)
        return order & 3 if order >> 2 == sequence & _MASK else GO_ON

    def say(self, state: int) -> None:
        """The child's word on its state."""
        self._memory[0] = state

    def hold(self, *, holds: bool) -> None:
        """Whether the child may have claims; said before it claims, so that nobody misses one."""
        self._memory[_HOLDS_AT] = holds

    def beat(self, now: int) -> None:
        """The child's loop goes round."""
        _BEAT.pack_into(self._memory, _BEAT_AT, now)

    def spared(self) -> int:
        """Until when the supervisor looks for new jobs; 0 if it never has."""
        (until,) = _BEAT.unpack_from(self._memory, _SPARED_AT)
        return int(until)

    def told(self) -> int:
        """The beat after which the loop stood still, if that was told; the last one."""
        (beat,) = _BEAT.unpack_from(self._memory, _TOLD_AT)
        return int(beat)

    # -- the supervisor's side

    def tell(self, beat: int) -> None:
        """That the loop stands still since a beat has been told: the child need not do so afterwards."""
        _BEAT.pack_into(self._memory, _TOLD_AT, beat)

    def spare(self, until: int) -> None:
        """The child need not look for new jobs that it did not hear of before an instant."""
        _BEAT.pack_into(self._memory, _SPARED_AT, until)

    def beaten(self) -> int:
        """When the child's loop last went round; 0 if it has none."""
        (at,) = _BEAT.unpack_from(self._memory, _BEAT_AT)
        return int(at)

    def state(self) -> int:
        """The child's word on its state."""
        return self._memory[0]

    def holds(self) -> bool:
        """Whether the child may have claims."""
        return self._memory[_HOLDS_AT] != 0

    def started(self) -> list[Started]:
        """The runs that have begun and whose endings are not durable yet."""
        found = []
        memory = self._memory
        for slot in range(self.size):
            at = _HEADER + slot * _SLOT.size
            if memory[at + _BODY_AT + 24] == 0:
                continue
            sequence, _, token, since, limit, job_id, phase = _SLOT.unpack_from(memory, at)
            if sequence % 2 == 0 and _SEQUENCE.unpack_from(memory, at)[0] == sequence and job_id[0]:
                found.append(Started(slot, sequence, job_id.decode(), token, since, limit, phase))
        return found

    def command(self, run: Started, order: int) -> None:
        """Tell the child what to do with a run."""
        at = _HEADER + run.slot * _SLOT.size + _ORDER_AT
        _SEQUENCE.pack_into(self._memory, at, (run.sequence & _MASK) << 2 | order)

    def close(self) -> None:
        """Unmap."""
        self._memory.close()

    def remove(self) -> None:
        """Unmap, and delete the file."""
        self.close()
        with suppress(FileNotFoundError):
            os.unlink(self._path)  # noqa: PTH108


def _reserve(descriptor: int, path: str, length: int) -> None:
    """Have the space now: on a full disk, a write to mapped memory that has none would kill its process."""
    try:
        os.posix_fallocate(descriptor, 0, length)
    except OSError as error:
        if error.errno == ENOSPC:
            raise unusable(path, error) from None


def read_slots(path: str) -> list[Started]:
    """The runs that a dead process shows in its file; none if it died before the file had its size."""
    size = (os.stat(path).st_size - _HEADER) // _SLOT.size  # noqa: PTH116
    if size < 1:
        return []
    slots = SlotMap(path, size)
    try:
        return slots.started()
    finally:
        slots.close()
