from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.model import stamp

INSTANTS = st.integers(0, stamp.LAST)


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (1_737_028_800_000, "2025-01-16T12:00:00.000Z"),
        (951_782_400_120, "2000-02-29T00:00:00.120Z"),
        (stamp.LAST, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_stamp_has_one_form(at, text):
    assert stamp.to_text(at) == text
    assert stamp.from_text(text) == at


@given(INSTANTS)
def test_a_stamp_comes_back_as_its_instant(at):
    text = stamp.to_text(at)
    assert len(text) == 24
    assert stamp.from_text(text) == at


@given(INSTANTS, INSTANTS)
def test_stamps_sort_as_their_instants(one, other):
    assert (stamp.to_text(one) < stamp.to_text(other)) == (one < other)


@given(INSTANTS)
@example(2_147_483_648_003)
@example(4_294_967_296_007)
def test_an_instant_comes_back_from_its_datetime(at):
    assert stamp.from_datetime(stamp.to_datetime(at)) == at


@pytest.mark.parametrize("second", [2**30, 2**31, 2**32, 2**35])
def test_no_millisecond_is_lost_where_floats_grow_coarse(second):
    instants = range(second * 1000, second * 1000 + 5_000)
    assert [at for at in instants if stamp.from_datetime(stamp.to_datetime(at)) != at] == []


def test_a_datetime_is_rounded_down_to_the_millisecond():
    moment = datetime(2025, 1, 16, 12, 0, 0, 1_999, tzinfo=UTC)
    assert stamp.to_text(stamp.from_datetime(moment)) == "2025-01-16T12:00:00.001Z"


@given(INSTANTS.filter(lambda at: 10**9 < at < stamp.LAST - 10**9), st.integers(-14 * 60, 14 * 60))
def test_a_time_zone_does_not_change_the_instant(at, minutes):
    moment = stamp.to_datetime(at)
    assert moment.tzinfo is UTC
    assert stamp.from_datetime(moment.astimezone(timezone(timedelta(minutes=minutes)))) == stamp.from_datetime(moment)
