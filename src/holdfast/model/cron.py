"""When a cron expression comes due in a time zone.

The expression is read, matched and put into words by cronsim, on a clock that never leaps. What a real clock does is
settled here, for every expression alike:

- a time that the clock skips (a gap) comes due right after the gap, once for all that the gap swallowed;
- a time that the clock shows twice (a fold) comes due once, the first time. Only an expression that runs in every hour
  of the day goes on through both: who asks for every five minutes does not mean an hour of silence.

cronsim's own rule is Debian's, which goes by how the expression is written: `*/30 2 * * *` would be lost in a gap.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from holdfast.model.errors import BadInput
from holdfast.model.request import shown

NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # of a clock on the wall, which knows no zone
_FIELDS = 5
_HOURS = 24
_DAY = 86_400
_LONGEST = 255
_EXAMPLE = 'write five fields, as in "0 3 * * *" (minute, hour, day of the month, month, day of the week)'


class Cron:
    """One expression in one time zone, both checked."""

    def __init__(self, expression: str, zone: str) -> None:
        self.expression = expression
        self.zone = zone
        self._zone = find_zone(zone)
        self._fields, parsed = _parsed(expression)
        self._every_hour = len(parsed.hours) == _HOURS
        self._words = parsed.explain()
        if self._match_after(0) is None:
            raise BadInput("BAD_SCHEDULE", f"cron {shown(expression)} names a day that never comes: {_EXAMPLE}")

    def words(self) -> str:
        """The expression as a person would say it."""
        return f"{self._words}, {self.zone}"

    def next_after(self, at: int) -> int | None:
        """The first instant after another at which it comes due; None if that is too far ahead for any clock."""
        second = at // 1000
        offset = self._offset(second)
        wall = second + offset  # what the clock on the wall shows, as seconds; all up to here is dealt with
        while (match := self._match_after(wall)) is not None:
            due = match - offset
            change = self._change(second, due, offset)
            if change is None:
                if self._every_hour or not self._is_second_pass(due):
                    return due * 1000
                wall = match
                continue
            after = self._offset(change)
            if match < change + after:
                return change * 1000  # the clock skips it
            wall, second, offset = change + after - 1, change, after
        return None

    def _match_after(self, wall: int) -> int | None:
        try:
            found = next(CronSim(self._fields, _EPOCH + timedelta(seconds=wall)))
        except (StopIteration, OverflowError):
            return None
        return (found - _EPOCH) // timedelta(seconds=1)

    def _change(self, second: int, due: int, offset: int) -> int | None:
        """The first second after one and up to another at which the zone's offset is a new one."""
        low = second
        while low < due:
            high = min(low + _DAY, due)
            if self._offset(high) != offset:
                while high - low > 1:
                    middle = (low + high) // 2
                    low, high = (middle, high) if self._offset(middle) == offset else (low, middle)
                return high
            low = high
        return None

    def _offset(self, second: int) -> int:
        ahead = datetime.fromtimestamp(second, self._zone).utcoffset()
        assert ahead is not None, "every zone knows its offset"
        return ahead // timedelta(seconds=1)

    def _is_second_pass(self, second: int) -> bool:
        return datetime.fromtimestamp(second, self._zone).fold == 1


@lru_cache(maxsize=1024)
def find_cron(expression: str, zone: str) -> Cron:
    """The expression in the zone; BadInput if either cannot be."""
    return Cron(expression, zone)


def find_zone(zone: object) -> ZoneInfo:
    """The time zone of a name such as Europe/Vienna."""
    if isinstance(zone, str):
        try:
            return ZoneInfo(zone)
        except (KeyError, ValueError, OSError):  # unknown, no usable name, or the name of a folder
            pass
    raise BadInput(
        "BAD_SCHEDULE",
        f"{shown(zone)} is no time zone known here: write one such as Europe/Vienna or UTC. Where a machine has none "
        "at all, `pip install tzdata` brings them",
    )


def on_the_wall(at: int, zone: str) -> str:
    """An instant as a clock in the zone shows it: `2025-01-16 13:00 CET`."""
    moment = datetime.fromtimestamp(at // 1000, UTC).astimezone(find_zone(zone))
    return f"{moment:%Y-%m-%d %H:%M}{f':{moment:%S}' if moment.second else ''} {moment.tzname()}"


def _parsed(expression: object) -> tuple[str, CronSim]:
    fields = NICKNAMES.get(expression, expression) if isinstance(expression, str) else ""
    try:
        if len(fields) <= _LONGEST and len(fields.split()) == _FIELDS:
            return fields, CronSim(fields, _EPOCH)
        fault = ""
    except CronSimError as error:
        fault = f" ({str(error).lower()})"
    raise BadInput("BAD_SCHEDULE", f"cron {shown(expression)} cannot be read{fault}: {_EXAMPLE}")
