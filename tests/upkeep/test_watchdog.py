"""The watchdog ends runs whose lease ran out, and keeps quiet when nobody had a chance to renew."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from holdfast.engine import leases
from holdfast.engine.desk import Desk
from holdfast.model.errors import StoreError
from holdfast.model.outcome import Parked
from holdfast.model.policy import Policy
from holdfast.model.status import Status
from holdfast.testing import Clock
from holdfast.upkeep import watchdog as module
from holdfast.upkeep.watchdog import Watchdog
from tests.upkeep.given import LEASE_MS, job, running

POLICIES = {"work": Policy(lease_ms=LEASE_MS)}


class Time:
    """Monotonic time that moves with the wall clock, unless one of them is moved alone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds
        self._clock.advance(seconds)


@pytest.fixture
def time(clock: Clock, monkeypatch: Any) -> Time:
    one = Time(clock)
    monkeypatch.setattr(module, "monotonic", one)
    return one


@pytest.fixture
def watchdog(desk: Desk, time: Time) -> Watchdog:
    return Watchdog(desk, POLICIES, LEASE_MS)


def passing(watchdog: Watchdog, time: Time, seconds: float) -> dict[str, int]:
    """Let time pass as it does for a watchdog that runs at its interval."""
    counts: dict[str, int] = {}
    for _ in range(int(seconds / watchdog.interval)):
        time.pass_(watchdog.interval)
        counts |= {status: counts.get(status, 0) + count for status, count in watchdog.run_once().items()}
    return counts


def test_a_run_whose_lease_ran_out_goes_back_as_crashed(desk: Desk, watchdog: Watchdog, time: Time):
    (claim,) = running(desk, "host:1:aa/1-child")
    assert passing(watchdog, time, LEASE_MS / 1000) == {}
    assert passing(watchdog, time, 3) == {"queued": 1}
    after = job(desk, claim.id)
    assert (after.status, after.crashed, after.attempts) == (Status.QUEUED, 1, 1)
    assert desk.write(leases.renew, [(claim.id, claim.token)], LEASE_MS) == [False]


def test_a_renewed_run_is_left_alone(desk: Desk, watchdog: Watchdog, time: Time):
    (claim,) = running(desk, "host:1:aa/1-child")
    for _ in range(5):
        assert passing(watchdog, time, 8) == {}
        assert desk.write(leases.renew, [(claim.id, claim.token)], LEASE_MS) == [True]


@pytest.mark.parametrize("leap", [3_600, -3_600])
def test_after_a_leap_of_the_clock_nothing_is_ended_for_one_lease(
    desk: Desk, time: Time, clock: Clock, caplog, leap: int
):
    watchdog = Watchdog(desk, POLICIES, LEASE_MS)
    (claim,) = running(desk, "host:1:aa/1-child")
    clock.advance(leap)
    with caplog.at_level(logging.WARNING):
        assert passing(watchdog, time, 5) == {}
        assert caplog.text.count("the clock leapt") == 1
    desk.write(leases.renew, [(claim.id, claim.token)], LEASE_MS)  # its worker lives, and renews
    assert passing(watchdog, time, 8) == {}
    assert job(desk, claim.id).status is Status.IN_PROGRESS


def test_after_the_quiet_what_is_still_expired_is_ended(desk: Desk, watchdog: Watchdog, time: Time, clock: Clock):
    running(desk, "host:1:aa/1-child")
    clock.advance(3_600)
    assert passing(watchdog, time, LEASE_MS / 1000 + watchdog.interval * 2) == {"queued": 1}


def test_a_small_step_of_the_clock_is_no_leap(desk: Desk, watchdog: Watchdog, time: Time, clock: Clock):
    running(desk, "host:1:aa/1-child")
    passing(watchdog, time, 6)
    clock.advance(4)
    assert watchdog.run_once() == {"queued": 1}


def test_after_a_time_without_the_store_the_living_get_a_chance_to_renew(desk: Desk, watchdog: Watchdog, time: Time):
    (claim,) = running(desk, "host:1:aa/1-child")
    passing(watchdog, time, 3)
    time.pass_(60)  # locked, full, or gone: nobody could renew
    assert watchdog.run_once() == {}
    desk.write(leases.renew, [(claim.id, claim.token)], LEASE_MS)
    assert passing(watchdog, time, 9) == {}


def test_a_watchdog_that_is_always_late_still_ends_what_expired(desk: Desk, watchdog: Watchdog, time: Time):
    running(desk, "host:1:aa/1-child")
    counts: dict[str, int] = {}
    for _ in range(4):
        time.pass_(60)
        counts |= watchdog.run_once()
    assert counts == {"queued": 1}


def test_an_error_of_the_store_reaches_the_caller_and_the_next_look_is_as_good(
    desk: Desk, watchdog: Watchdog, time: Time, monkeypatch
):
    running(desk, "host:1:aa/1-child")
    passing(watchdog, time, 9)

    def away(*_: object) -> None:
        raise StoreError("STORE_BUSY", "held by another")

    with monkeypatch.context() as patch:
        patch.setattr(desk, "write", away)
        with pytest.raises(StoreError):
            watchdog.run_once()
    assert passing(watchdog, time, 7) == {"queued": 1}


def test_crashes_are_bounded(desk: Desk, watchdog: Watchdog, time: Time):
    watchdog._policies = {"work": Policy(lease_ms=LEASE_MS, max_crashes=1)}
    (claim,) = running(desk, "host:1:aa/1-child")
    assert passing(watchdog, time, 14) == {"dead_letter": 1}
    assert (job(desk, claim.id).error or {})["code"] == "LEASE_EXPIRED"


@pytest.mark.parametrize(("lease_ms", "interval"), [(60_000, 5.0), (3_000, 1.0), (100, 0.1)])
def test_it_looks_often_enough_for_its_lease(desk: Desk, lease_ms: int, interval: float):
    assert Watchdog(desk, POLICIES, lease_ms).interval == interval


LONG_MS = 60_000


def test_where_leases_are_long_and_nothing_runs_it_rests_long(desk: Desk, time: Time):
    watchdog = Watchdog(desk, POLICIES, LONG_MS)
    watchdog.run_once()
    assert watchdog.interval == 30


def test_it_comes_when_the_next_lease_ends_and_not_half_a_minute_later(desk: Desk, time: Time):
    watchdog = Watchdog(desk, POLICIES, LONG_MS)
    running(desk, "host:1:aa/1-child")  # for nine seconds, as another application's types have it
    watchdog.run_once()
    assert 9 < watchdog.interval < 9.5
    time.pass_(watchdog.interval)
    assert watchdog.run_once() == {"queued": 1}


def test_in_the_quiet_after_a_leap_it_keeps_looking(desk: Desk, time: Time, clock: Clock):
    watchdog = Watchdog(desk, POLICIES, LONG_MS)
    clock.advance(3_600)
    watchdog.run_once()
    assert watchdog.interval == 5


def test_a_job_that_nobody_came_for_is_ended_too(desk: Desk, watchdog: Watchdog, time: Time):
    claims = running(desk, "host:1:aa/1-child", 2)
    desk.write(leases.finish, [(claim, Parked("log in", None, None, 10_000)) for claim in claims])
    assert passing(watchdog, time, 9) == {}
    assert passing(watchdog, time, 3) == {"dead_letter": 2}
    assert job(desk, claims[0].id).error["code"] == "AUTH_EXPIRED"  # type: ignore[index]


def test_but_not_right_after_a_leap_of_the_clock(desk: Desk, watchdog: Watchdog, time: Time, clock: Clock):
    (claim,) = running(desk, "host:1:aa/1-child")
    desk.write(leases.finish, [(claim, Parked("log in", None, None, 10_000))])
    clock.advance(3_600)
    assert passing(watchdog, time, 5) == {}
    assert job(desk, claim.id).status is Status.AWAITING_AUTH
