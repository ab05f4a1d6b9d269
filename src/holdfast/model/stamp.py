"""Instants are integer milliseconds since 1970, UTC; a stamp is their one text form, `2025-01-16T12:00:00.000Z`.

Milliseconds are what both stores keep, compare as integers, and need no date library on the cold path of a hook.
"""

from __future__ import annotations

from time import gmtime, strftime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_MOST_KEPT = 256
LAST = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z: one more digit in the year would no longer sort as text


def to_text(at: int) -> str:
    """The stamp of an instant."""
    second, milli = divmod(at, 1000)
    return f"{_prefixes[second]}.{milli:03d}Z"


def from_text(text: str) -> int:
    """The instant of a stamp that a store wrote."""
    return _seconds[text[:19]] * 1000 + int(text[20:23])


def to_datetime(at: int) -> datetime:
    """The instant as an aware datetime."""
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415  # the cold path never needs it

    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)


def from_datetime(moment: datetime) -> int:
    """The instant of an aware datetime, rounded down to the millisecond."""
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415

    # Whole numbers all the way: a float of seconds loses milliseconds of dates far ahead.
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


class _Prefixes(dict[int, str]):
    """What was made a moment ago is asked for again; `functools` would cost a cold hook milliseconds."""

    def __missing__(self, second: int) -> str:
        if len(self) >= _MOST_KEPT:
            self.clear()
        prefix = self[second] = strftime("%Y-%m-%dT%H:%M:%S", gmtime(second))
        return prefix


class _Seconds(dict[str, int]):
    def __missing__(self, prefix: str) -> int:
        from datetime import datetime  # noqa: PLC0415  # the cold path never needs it

        if len(self) >= _MOST_KEPT:
            self.clear()
        second = self[prefix] = int(datetime.fromisoformat(prefix + "+00:00").timestamp())
        return second


_prefixes = _Prefixes()
_seconds = _Seconds()
