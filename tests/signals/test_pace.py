"""How often something is said or heard."""

from __future__ import annotations

import pytest

from holdfast.signals import pace as paces


def test_where_a_send_takes_longer_than_it_can_everyone_tells_less_often():
    pace = paces.Pace()
    assert pace.after(0.010) == paces.GATHER  # a server far away is no crowd
    assert pace.after(0.010) == paces.GATHER
    assert pace.after(0.012) == paces.GATHER  # one slow send is an accident
    assert pace.after(0.012) == pytest.approx(0.1)
    assert pace.after(3.0) == pytest.approx(0.1)
    assert pace.after(3.0) == paces.LONGEST_GATHER
    assert pace.after(0.010) == paces.GATHER


def test_the_first_messages_go_at_once_and_those_of_a_burst_one_by_one():
    pace, now = paces.Pace(), 1_000.0
    for _ in range(paces.AT_ONCE - 1):
        assert pace.next_one(now, 0.1) == now
    for _ in range(5):
        now, before = pace.next_one(now, 0.1), now
        assert now - before == pytest.approx(0.1)
    now += 0.5
    assert [pace.next_one(now, 0.1) - now for _ in range(6)] == pytest.approx([0, 0, 0, 0, 0.1, 0.2])
