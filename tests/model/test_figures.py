from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.figures import bucket_of, duration_of, percentile

DURATIONS = st.integers(0, 10**9)


@pytest.mark.parametrize(("ms", "bucket"), [(-5, 0), (0, 0), (1, 4), (3, 8), (1023, 40), (60_000, 63)])
def test_a_duration_has_a_bucket(ms, bucket):
    assert bucket_of(ms) == bucket


@given(DURATIONS)
def test_a_bucket_stands_for_its_durations_within_a_tenth(ms):
    assert abs(duration_of(bucket_of(ms)) - ms) <= 0.1 * (ms + 1)


@given(DURATIONS, DURATIONS)
def test_longer_durations_never_have_lower_buckets(one, other):
    assert (bucket_of(one) <= bucket_of(other)) or one > other


def test_a_percentile_of_nothing_is_none():
    assert percentile({}, 0.5) is None


@pytest.mark.parametrize(
    ("share", "bucket"), [(0.0, 4), (0.25, 4), (0.5, 4), (0.51, 8), (0.75, 8), (0.76, 40), (0.99, 40), (1.0, 40)]
)
def test_a_percentile_is_the_duration_that_a_share_stayed_at_or_below(share, bucket):
    assert percentile({40: 1, 4: 2, 8: 1}, share) == duration_of(bucket)


@given(st.lists(DURATIONS, min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_percentile_is_right_within_a_tenth(durations, share):
    histogram: dict[int, int] = {}
    for ms in durations:
        histogram[bucket_of(ms)] = histogram.get(bucket_of(ms), 0) + 1
    rank = next(n for n in range(1, len(durations) + 1) if n >= share * len(durations))
    exact = sorted(durations)[rank - 1]
    assert abs(percentile(histogram, share) - exact) <= 0.1 * (exact + 1)
