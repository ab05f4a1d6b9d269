"""Job ids: ULIDs, 26 letters that sort by time of creation.

Within one millisecond the random part counts upwards, so ids of one process are strictly increasing and new rows
land at the right edge of the table. An id is a name, not a secret.
"""

from __future__ import annotations

import os
from _thread import allocate_lock  # `threading` would cost a cold hook milliseconds

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [a + b for a in _LETTERS for b in _LETTERS]
_TAIL_BITS = 20
_TAIL = (1 << _TAIL_BITS) - 1
_ID_LENGTH = 26
_TIME_LENGTH = 10

_lock = allocate_lock()
_last_ms = 0
_random = 0


def new_ids(at: int, count: int) -> list[str]:
    """`count` fresh ids in increasing order, for jobs created at `at`."""
    global _last_ms, _random  # noqa: PLW0603  # increasing per process is the point
    with _lock:
        if at > _last_ms:
            _last_ms = at
            # The top bit stays clear, so that counting up can never overflow into the time.
            _random = int.from_bytes(os.urandom(10), "big") >> 1
        first = _random + 1
        _random += count
        time = _letters_10(_last_ms)
    if count == 1:
        return [time + _letters_12(first >> _TAIL_BITS) + _letters_4(first)]
    ids: list[str] = []
    while count:
        # Only the last four letters change, until they are used up.
        low = first & _TAIL
        some = min(count, _TAIL + 1 - low)
        head = time + _letters_12(first >> _TAIL_BITS)
        ids += [head + _letters_4(number) for number in range(low, low + some)]
        first += some
        count -= some
    return ids


def made_at(job_id: str) -> int:
    """The instant in an id: when its job was created."""
    number = 0
    for letter in job_id[:_TIME_LENGTH]:
        number = number * 32 + _LETTERS.index(letter)
    return number


def is_id(text: str) -> bool:
    """Whether the text has the form of a job id."""
    return len(text) == _ID_LENGTH and text[0] <= "7" and all(letter in _LETTERS for letter in text)


# Written out: a loop over the pairs would take several times as long, at each enqueue.


def _letters_10(number: int) -> str:
    pairs = _PAIRS
    return (
        pairs[number >> 40 & 1023] + pairs[number >> 30 & 1023] + pairs[number >> 20 & 1023]
        + pairs[number >> 10 & 1023] + pairs[number & 1023]
    )  # fmt: skip


def _letters_12(number: int) -> str:
    return _PAIRS[number >> 50 & 1023] + _letters_10(number)


def _letters_4(number: int) -> str:
    return _PAIRS[number >> 10 & 1023] + _PAIRS[number & 1023]


def _forget() -> None:
    """A forked child must not continue its parent's count."""
    global _lock, _last_ms
    _lock, _last_ms = allocate_lock(), 0


os.register_at_fork(after_in_child=_forget)
