"""Every change of clocks of 50 time zones in ten years, against a walk over the minutes.

The walk knows nothing of cronsim and of gaps or folds: it looks at what the clock on the wall shows, minute after minute,
and at which minutes it has not shown or has shown before. `make test` walks a share of it; all of it:
HOLDFAST_CRON_ZONES=50 HOLDFAST_CRON_YEARS=10 pytest -s tests/model/test_cron_zones.py
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from holdfast.model.cron import Cron

ZONES = (
    "Australia/Lord_Howe", "Africa/Casablanca", "Antarctica/Troll", "America/Havana", "Europe/Vienna",
    "Africa/Cairo", "Africa/El_Aaiun", "America/Asuncion", "America/Caracas", "America/Chicago", "America/Denver",
    "America/Los_Angeles", "America/Miquelon", "America/New_York", "America/Nuuk", "America/Santiago",
    "America/Sao_Paulo", "America/Scoresbysund", "America/St_Johns", "Asia/Amman", "Asia/Beirut", "Asia/Damascus",
    "Asia/Gaza", "Asia/Hebron", "Asia/Jerusalem", "Asia/Kabul", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Pyongyang",
    "Asia/Tehran", "Asia/Tokyo", "Asia/Ulaanbaatar", "Atlantic/Azores", "Australia/Adelaide", "Australia/Eucla",
    "Australia/Sydney", "Europe/Chisinau", "Europe/Dublin", "Europe/Istanbul", "Europe/Lisbon", "Europe/London",
    "Europe/Volgograd", "Pacific/Apia", "Pacific/Auckland", "Pacific/Chatham", "Pacific/Easter", "Pacific/Fiji",
    "Pacific/Norfolk", "Pacific/Tongatapu", "UTC",
)  # fmt: skip
BEGIN = datetime(2016, 1, 1, tzinfo=UTC)
END = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 1_440
MINUTES = int((END - BEGIN).total_seconds()) // 60
FIRST = int(BEGIN.timestamp()) // 60
SHARE = int(os.environ.get("HOLDFAST_CRON_ZONES", "4"))
YEARS = int(os.environ.get("HOLDFAST_CRON_YEARS", "1"))


class Asked(NamedTuple):
    """A cron expression taken apart by hand."""

    minutes: frozenset[int]
    hours: frozenset[int]
    weekdays: frozenset[int]  # Monday is 0
    days: frozenset[int]

    def matches(self, wall: int) -> bool:
        day, minute = divmod(wall, DAY)
        return minute % 60 in self.minutes and minute // 60 in self.hours and self.on(day)

    def on(self, day: int) -> bool:
        weekday, number = calendar(day)
        return weekday in self.weekdays and number in self.days


@cache
def calendar(day: int) -> tuple[int, int]:
    shown = date(1970, 1, 1) + timedelta(days=day)
    return shown.weekday(), shown.day


def asked(minutes, hours=range(24), weekdays=range(7), days=range(1, 32)):
    return Asked(frozenset(minutes), frozenset(hours), frozenset(weekdays), frozenset(days))


RARE = {
    "30 2 * * *": asked([30], [2]),
    "0 0 * * *": asked([0], [0]),
    "*/30 1-3 * * *": asked([0, 30], [1, 2, 3]),
    "15 23,0 * * SUN": asked([15], [23, 0], [6]),
    "59 1 31 * *": asked([59], [1], days=[31]),
}
OFTEN = {
    "0 * * * *": asked([0]),
    "*/15 * * * *": asked(range(0, 60, 15)),
    "7 */2 * * *": asked([7], range(0, 24, 2)),
    "45 * * * SUN": asked([45], weekdays=[6]),
    "0,10,50 0-4 * * *": asked([0, 10, 50], range(5)),
}


def offset(zone: ZoneInfo, minute: int) -> int:
    """What the zone's clock is ahead by, in minutes."""
    return datetime.fromtimestamp(minute * 60, zone).utcoffset() // timedelta(minutes=1)


@cache
def changes(zone: ZoneInfo) -> list[int]:
    """The quarters of days in whose course the zone's clock was set."""
    seen = [offset(zone, FIRST + at) for at in range(0, MINUTES + 1, 360)]
    return [FIRST + number * 360 for number in range(1, len(seen)) if seen[number] != seen[number - 1]]


def walls(zone: ZoneInfo, since: int, until: int) -> list[int]:
    """What the clock on the wall shows, minute after minute."""
    return [minute + offset(zone, minute) for minute in range(since, until)]


def walked(one: Asked, shown: list[int], since: int) -> list[int]:
    """The minutes at which a tick is due, found by looking at the clock; the first day only tells what was shown."""
    every_hour = len(one.hours) == 24
    found = []
    highest = shown[0]
    for number in range(1, len(shown)):
        wall = shown[number]
        if wall > highest:  # what it has not shown before; more than one minute: it leapt
            due = any(one.matches(each) for each in range(highest + 1, wall + 1))
            highest = wall
        else:
            due = every_hour and one.matches(wall)
        if due and number >= DAY:
            found.append(since + number)
    return found


def told(expression: str, zone: str, since: int, until: int) -> list[int]:
    """The same minutes as our own code tells them."""
    cron = Cron(expression, zone)
    found = []
    at = cron.next_after(since * 60_000 - 1)
    while at < until * 60_000:
        found.append(at // 60_000)
        at = cron.next_after(at)
    return found


def test_there_are_fifty_zones_and_ten_years():
    assert (len(set(ZONES)), END.year - BEGIN.year) == (50, 10)


def test_the_zones_of_the_share_change_their_clocks_in_every_way():
    by = {offset(zone, at) - offset(zone, at - 360) for zone in map(ZoneInfo, ZONES[:4]) for at in changes(zone)}
    assert by >= {-120, -60, -30, 30, 60, 120}


@pytest.mark.parametrize("zone", ZONES[:SHARE])
def test_around_every_change_of_clocks_no_tick_is_lost_and_none_is_doubled(zone):
    counted: Counter[str] = Counter()
    for change in changes(ZoneInfo(zone)):
        since, until = change - 2 * DAY, change + DAY
        shown = walls(ZoneInfo(zone), since, until)
        for expression, one in (RARE | OFTEN).items():
            expected = walked(one, shown, since)
            assert told(expression, zone, since + DAY, until) == expected, (expression, zone, change)
            counted["ticks"] += len(expected)
        counted["changes"] += 1
    sys.stdout.write(f"\n{zone}: {dict(counted)}, none lost, none doubled")


@pytest.mark.parametrize("zone", ZONES[: SHARE if YEARS > 1 else 1])
def test_over_the_years_no_tick_is_lost_and_none_is_doubled(zone):
    since, until = FIRST, FIRST + MINUTES * YEARS // 10
    shown = walls(ZoneInfo(zone), since, until)
    number = 0
    for expression, one in RARE.items():
        expected = walked(one, shown, since)
        assert told(expression, zone, since + DAY, until) == expected, (expression, zone)
        number += len(expected)
    sys.stdout.write(f"\n{zone}: {number} ticks in {YEARS} years, none lost, none doubled")
