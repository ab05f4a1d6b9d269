"""Cron on the clocks of real zones: gaps, folds and leaps looked up by hand, and what cannot be read."""

from __future__ import annotations

import pytest

from holdfast.model import stamp
from holdfast.model.cron import NICKNAMES, Cron, find_zone, on_the_wall
from holdfast.model.errors import BadInput


def ticks(expression, zone, since, number):
    """The next ticks as the zone's own clock shows them."""
    cron, at, shown = Cron(expression, zone), stamp.from_text(f"{since}:00.000Z"), []
    for _ in range(number):
        at = cron.next_after(at)
        shown.append(on_the_wall(at, zone))
    return shown


@pytest.mark.parametrize(
    ("expression", "since", "expected"),
    [
        ("0 3 * * *", "2025-01-16T12:00", ["2025-01-17 03:00", "2025-01-18 03:00"]),
        ("*/20 9 * * MON", "2025-01-16T12:00", ["2025-01-20 09:00", "2025-01-20 09:20"]),
        ("0 0 L * *", "2024-02-01T00:00", ["2024-02-29 00:00", "2024-03-31 00:00"]),
        ("0 12 29 2 *", "2025-01-01T00:00", ["2028-02-29 12:00", "2032-02-29 12:00"]),
        ("@daily", "2025-01-16T12:00", ["2025-01-17 00:00", "2025-01-18 00:00"]),
        ("@weekly", "2025-01-16T12:00", ["2025-01-19 00:00", "2025-01-26 00:00"]),
    ],
)
def test_ticks_without_a_change_of_clocks(expression, since, expected):
    assert ticks(expression, "UTC", since, 2) == [f"{one} UTC" for one in expected]


def test_a_tick_comes_after_its_instant_to_the_millisecond():
    cron, three = Cron("0 3 * * *", "UTC"), stamp.from_text("2025-01-17T03:00:00.000Z")
    assert cron.next_after(three - 1) == three
    assert cron.next_after(three) == three + 86_400_000


# Vienna leaps from 02:00 to 03:00 on 2025-03-30, and goes from 03:00 back to 02:00 on 2025-10-26.
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("30 2 * * *", ["2025-03-30 03:00 CEST", "2025-03-31 02:30 CEST"]),
        ("0 2 * * *", ["2025-03-30 03:00 CEST", "2025-03-31 02:00 CEST"]),
        ("*/20 2 * * *", ["2025-03-30 03:00 CEST", "2025-03-31 02:00 CEST"]),  # lost by the rule of Debian's cron
        ("0 2,3 * * *", ["2025-03-30 03:00 CEST", "2025-03-31 02:00 CEST"]),
        ("0 3 * * *", ["2025-03-30 03:00 CEST", "2025-03-31 03:00 CEST"]),
        ("59 1 * * *", ["2025-03-30 01:59 CET", "2025-03-31 01:59 CEST"]),
    ],
)
def test_a_time_in_a_gap_runs_right_after_it_and_once(expression, expected):
    assert ticks(expression, "Europe/Vienna", "2025-03-29T12:00", 2) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("30 2 * * *", ["2025-10-26 02:30 CEST", "2025-10-27 02:30 CET"]),
        ("*/30 2 * * *", ["2025-10-26 02:00 CEST", "2025-10-26 02:30 CEST", "2025-10-27 02:00 CET"]),
        ("0 2-4 * * *", ["2025-10-26 02:00 CEST", "2025-10-26 03:00 CET", "2025-10-26 04:00 CET"]),
        ("0 3 * * *", ["2025-10-26 03:00 CET", "2025-10-27 03:00 CET"]),
    ],
)
def test_a_time_in_a_fold_runs_once_the_first_time(expression, expected):
    assert ticks(expression, "Europe/Vienna", "2025-10-25T12:00", len(expected)) == expected


def test_who_asks_in_the_second_pass_of_a_fold_waits_for_the_next_day():
    assert ticks("30 2 * * *", "Europe/Vienna", "2025-10-26T01:10", 1) == ["2025-10-27 02:30 CET"]


def test_every_half_hour_goes_on_through_a_fold():
    assert ticks("*/30 * * * *", "Europe/Vienna", "2025-10-25T23:45", 6) == [
        "2025-10-26 02:00 CEST", "2025-10-26 02:30 CEST", "2025-10-26 02:00 CET",
        "2025-10-26 02:30 CET", "2025-10-26 03:00 CET", "2025-10-26 03:30 CET",
    ]  # fmt: skip


def test_every_half_hour_goes_on_through_a_gap():
    assert ticks("*/30 * * * *", "Europe/Vienna", "2025-03-30T00:20", 3) == [
        "2025-03-30 01:30 CET", "2025-03-30 03:00 CEST", "2025-03-30 03:30 CEST",
    ]  # fmt: skip


def test_lord_howe_moves_its_clocks_by_half_an_hour():
    # 2025-10-05 02:00 -> 02:30, and 2025-04-06 02:00 -> 01:30
    assert ticks("15 2 * * *", "Australia/Lord_Howe", "2025-10-04T12:00", 2) == [
        "2025-10-05 02:30 +11", "2025-10-06 02:15 +11",
    ]  # fmt: skip
    assert ticks("45 1 * * *", "Australia/Lord_Howe", "2025-04-05T12:00", 2) == [
        "2025-04-06 01:45 +11", "2025-04-07 01:45 +1030",
    ]  # fmt: skip


def test_midnight_does_not_come_every_day():
    # Cairo leaps from 00:00 to 01:00 on 2024-04-26.
    assert ticks("0 0 * * *", "Africa/Cairo", "2024-04-25T12:00", 2) == [
        "2024-04-26 01:00 EEST",
        "2024-04-27 00:00 EEST",
    ]


def test_samoa_skipped_a_whole_day():
    assert ticks("0 9 * * *", "Pacific/Apia", "2011-12-29T00:00", 3) == [
        "2011-12-29 09:00 -10", "2011-12-31 00:00 +14", "2011-12-31 09:00 +14",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 3 * * *", "At 03:00 every day, Europe/Vienna"),
        ("*/15 * * * *", "Every 15th minute of every hour, Europe/Vienna"),
        ("0 9 * * MON-FRI", "At 09:00 on Monday through Friday, Europe/Vienna"),
        ("@monthly", "At 00:00 on the first day of every month, Europe/Vienna"),
    ],
)
def test_an_expression_is_put_into_words(expression, words):
    assert Cron(expression, "Europe/Vienna").words() == words


@pytest.mark.parametrize("nickname", sorted(NICKNAMES))
def test_every_nickname_stands_for_an_expression(nickname):
    assert Cron(nickname, "UTC").next_after(0) == Cron(NICKNAMES[nickname], "UTC").next_after(0)


@pytest.mark.parametrize(
    "expression",
    ["", "0 3 * *", "0 0 3 * * *", "60 * * * *", "0 24 * * *", "0 0 30 2 *", "0 0 32 * *", "0 0 * 13 *", "0 0 * * 8",
     "*/0 * * * *", "5-1 * * * *", "a b c d e", "@sometimes", "* * * * MON#6", "0 0 * * L", "0 0 * * #", "1" * 300,
     f"{'9' * 90} * * * *", "0 0 LW/LW * *", "\x00 * * * *", "٣ * * * *", None, 3, ["0 3 * * *"]],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_an_example(expression):
    with pytest.raises(BadInput) as caught:
        Cron(expression, "UTC")
    assert caught.value.code == "BAD_SCHEDULE"
    assert '"0 3 * * *"' in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_day_that_never_comes_is_refused():
    with pytest.raises(BadInput, match="never comes"):
        Cron("0 0 LW * */8", "UTC")  # a Sunday that is a weekday


@pytest.mark.parametrize(
    "zone", ["Mars/Olympus", "", "Europe", "../etc/passwd", "/etc/localtime", "a\x00b", "ü" * 300, None, 7]
)
def test_an_unknown_time_zone_is_refused(zone):
    with pytest.raises(BadInput, match="is no time zone") as caught:
        find_zone(zone)
    assert caught.value.code == "BAD_SCHEDULE"


def test_there_is_no_tick_after_the_last_year():
    assert Cron("0 0 1 1 *", "UTC").next_after(stamp.LAST - 1000) is None


def test_a_clock_is_shown_with_its_seconds_where_it_has_some():
    assert on_the_wall(1_000, "UTC") == "1970-01-01 00:00:01 UTC"
