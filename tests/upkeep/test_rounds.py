"""Heartbeat and watchdog in one transaction."""

from __future__ import annotations

from holdfast.engine.queues import workers
from holdfast.upkeep.retention import Heartbeat
from holdfast.upkeep.rounds import Rounds
from holdfast.upkeep.watchdog import Watchdog
from tests.upkeep.given import LEASE_MS, running

LINE = {"id": "host:1:aa", "host": "host", "pid": 1, "lanes": "[]", "places": 1, "running": 0}


def rounds_of(desk, lease_ms=60_000):
    return Rounds(desk, Watchdog(desk, {}, lease_ms), Heartbeat(desk, lambda: LINE))


def test_one_turn_says_that_the_worker_lives_and_ends_what_expired(desk, clock):
    running(desk, "gone:1:aa/1-child")
    clock.advance(LEASE_MS / 1000 + 0.001)
    rounds = rounds_of(desk, LEASE_MS)  # whoever comes later finds it
    assert rounds.run_once() == {"queued": 1}
    assert [worker["id"] for worker in desk.read(workers)] == ["host:1:aa"]


def test_the_heartbeat_goes_along_only_when_it_is_due(desk, monkeypatch):
    rounds = rounds_of(desk)
    beats = []
    monkeypatch.setattr(rounds._heartbeat, "_worker", lambda: beats.append(1) or LINE)
    for _ in range(3):
        rounds.run_once()
    assert len(beats) == 1
    rounds._beat_at = 0.0
    rounds.run_once()
    assert len(beats) == 2


def test_an_idle_round_comes_twice_a_minute(desk):
    rounds = rounds_of(desk)
    rounds.run_once()
    assert 29 < rounds.interval <= 30


def test_short_leases_keep_the_watchdog_quick(desk):
    rounds = rounds_of(desk, 3_000)
    rounds.run_once()
    assert rounds.interval == 1
