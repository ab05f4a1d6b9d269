"""The clock that you move: schedules and retries come when you say so."""

# A transaction that is left by an error is one block.
# ruff: noqa: PT012

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.testing import Clock, drain, temporary_app


def nothing(): ...


def test_time_stands_still_until_it_is_moved():
    clock = Clock()
    assert clock.now == clock.now == datetime(2025, 1, 16, 12, tzinfo=UTC)
    clock.advance(1.5)
    clock.advance(timedelta(minutes=1))
    assert clock.now == datetime(2025, 1, 16, 12, 1, 1, 500_000, tzinfo=UTC)


def test_a_clock_may_start_at_any_moment():
    assert Clock(datetime(2030, 5, 1, tzinfo=UTC)).now.year == 2030


def test_a_clock_moves_to_a_moment_but_never_back():
    clock = Clock()
    later = clock.now + timedelta(days=3)
    clock.move_to(later)
    clock.move_to(later - timedelta(days=1))
    assert clock.now == later


def test_jobs_are_stamped_by_the_clock(holdfast_app, holdfast_clock):
    job = holdfast_app.get(holdfast_app.enqueue("elsewhere").id)
    assert job.created_at == job.scheduled_at == holdfast_clock.now


def test_a_job_of_the_future_waits_until_the_clock_gets_there(holdfast_app, holdfast_clock):
    handle = holdfast_app.job(nothing).using(delay=60).enqueue()
    assert drain(holdfast_app).ran == []
    holdfast_clock.advance(59.999)
    assert drain(holdfast_app).ran == []
    holdfast_clock.advance(0.001)
    assert drain(holdfast_app).ran == [handle.id]


def test_a_retry_waits_for_its_back_off(holdfast_app, holdfast_clock):
    runs = []

    @holdfast_app.job
    def flaky():
        runs.append(holdfast_clock.now)
        if len(runs) == 1:
            raise ConnectionError("not now")

    handle = flaky.enqueue()
    assert drain(holdfast_app).by_status == {"queued": [handle.id]}
    assert drain(holdfast_app).ran == []
    holdfast_clock.advance(4)
    assert drain(holdfast_app).by_status == {"completed": [handle.id]}
    assert len(runs) == 2


def test_with_the_clock_a_drain_runs_what_is_due_later_too(holdfast_app, holdfast_clock):
    ran = []

    @holdfast_app.job
    def note(name: str):
        ran.append((name, holdfast_clock.now))

    start = holdfast_clock.now
    note.using(delay=3600).enqueue("later")
    note.enqueue("now")
    note.using(delay=timedelta(days=30)).enqueue("much later")
    drain(holdfast_app, clock=holdfast_clock)
    waits = [(name, (at - start).total_seconds()) for name, at in ran]
    assert waits == [("now", 0), ("later", 3_600), ("much later", 30 * 86_400)]


def test_with_the_clock_a_drain_goes_through_every_attempt(holdfast_app, holdfast_clock):
    @holdfast_app.job(max_attempts=4)
    def broken():
        raise ConnectionError("still down")

    handle = broken.enqueue()
    done = drain(holdfast_app, clock=holdfast_clock)
    assert done.ran == [handle.id] * 4
    assert list(done.by_status) == ["queued", "dead_letter"]
    assert (handle.job().failed, handle.job().attempts) == (4, 4)


def test_a_run_that_nobody_holds_any_more_is_recovered_by_a_drain(holdfast_app, holdfast_clock):
    from holdfast.engine import leases
    from holdfast.store.port import Order

    handle = holdfast_app.job(nothing).enqueue()
    holdfast_app.desk.write(leases.claim, Order("dead worker", holdfast_app.registry.lanes(), 1, 60_000))
    assert drain(holdfast_app).ran == []
    holdfast_clock.advance(61)
    assert drain(holdfast_app).by_status == {"completed": [handle.id]}
    assert handle.job().crashed == 1


def test_a_temporary_app_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with temporary_app() as app:
        app.enqueue("elsewhere")
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_app_leaves_nothing_behind_after_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(LookupError), temporary_app() as app:
        app.enqueue("elsewhere")
        raise LookupError
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_app_without_a_clock_goes_by_the_real_one():
    with temporary_app() as app:
        handle = app.job(nothing).enqueue()
        assert handle.job().created_at.year >= 2025
        assert drain(app).ran == [handle.id]
