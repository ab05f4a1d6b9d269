"""tick(), and what drain() makes of schedules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.testing import drain, tick


@pytest.fixture
def app(holdfast_app):
    return holdfast_app


@pytest.fixture
def report(app):
    ran: list[str] = []

    def report(day: str = "today") -> str:
        ran.append(day)
        return day

    handler = app.job(report)
    handler.ran = ran
    return handler


def test_a_schedule_begins_when_the_code_is_read(app, report, holdfast_clock):
    app.schedule("nightly", report.call(day="all"), cron="0 3 * * *", tz="Europe/Vienna")
    holdfast_clock.advance(timedelta(days=1))
    drain(app)
    assert report.ran == ["all"]


def test_tick_makes_the_jobs_and_tells_when_the_next_one_is(app, report, holdfast_clock):
    app.schedule(report, every=600)
    assert tick(app) == datetime(2025, 1, 16, 12, 10, tzinfo=UTC)
    holdfast_clock.advance(600)
    assert tick(app) == datetime(2025, 1, 16, 12, 20, tzinfo=UTC)
    assert [job.type for job in app.jobs()] == ["report"]
    assert report.ran == []


def test_without_schedules_there_is_no_next_tick(app):
    assert tick(app) is None


def test_a_moving_clock_stops_at_ticks_on_its_way_to_a_job(app, report, holdfast_clock):
    app.schedule("often", report.call(day="tick"), every=600)
    report.using(delay=1500).enqueue(day="job")
    drain(app, clock=holdfast_clock)
    assert report.ran == ["tick", "tick", "job"]
    assert holdfast_clock.now == datetime(2025, 1, 16, 12, 25, tzinfo=UTC)


def test_a_clock_that_was_set_back_is_seen(app, report, holdfast_clock):
    app.schedule(report, every=600)
    holdfast_clock.advance(600)
    drain(app)
    holdfast_clock.advance(-300)
    drain(app)
    holdfast_clock.advance(300)
    drain(app)
    assert report.ran == ["today"]
