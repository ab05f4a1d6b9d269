"""Durations as histograms: bucket b stands for about 2^(b/4) milliseconds, so a percentile is right within a tenth."""

from __future__ import annotations

from math import log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_STEPS = 4


def bucket_of(ms: int) -> int:
    """The bucket of a duration."""
    return round(log2(ms + 1) * _STEPS) if ms > 0 else 0


def duration_of(bucket: int) -> float:
    """The duration a bucket stands for, in milliseconds."""
    return float(2 ** (bucket / _STEPS)) - 1


def percentile(histogram: Mapping[int, int], share: float) -> float | None:
    """The duration, in milliseconds, that `share` of all counted stayed at or below; None of nothing."""
    total = sum(histogram.values())
    seen = 0
    for bucket in sorted(histogram):
        seen += histogram[bucket]
        if seen >= share * total:
            return duration_of(bucket)
    return None
