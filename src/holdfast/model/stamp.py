"""Instants are integer milliseconds since 1970, UTC; a stamp is their one text form, `2025-01-16T12:00:00.000Z`.

Milliseconds are what both stores keep, compare as integers, and need no date library on the cold path of a hook.
"""

from __future__ import annotations

from functools import lru_cache
from time import gmtime, strftime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

LAST = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z: one more digit in the year would no longer sort as text


def to_text(at: int) -> str:
    """The stamp of an instant."""
    second, milli = divmod(at, 1000)
    return f"{_prefix(second)}.{milli:03d}Z"


def from_text(text: str) -> int:
    """The instant of a stamp that a store wrote."""
    return _second(text[:19]) * 1000 + int(text[20:23])


def to_datetime(at: int) -> datetime:
    """The instant as an aware datetime."""
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415  # the cold path never needs it

    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)


def from_datetime(moment: datetime) -> int:
    """The instant of an aware datetime, rounded down to the millisecond."""
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415

    # Whole numbers all the way: a float of seconds loses milliseconds of dates far ahead.
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@lru_cache(maxsize=64)
def _prefix(second: int) -> str:
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(second))


@lru_cache(maxsize=256)
def _second(prefix: str) -> int:
    from datetime import datetime  # noqa: PLC0415  # the cold path never needs it

    return int(datetime.fromisoformat(prefix + "+00:00").timestamp())
