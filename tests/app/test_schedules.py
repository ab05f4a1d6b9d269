from __future__ import annotations

import asyncio
import time
from datetime import timedelta

import pytest

from holdfast.model.errors import BadInput, NotFound
from holdfast.testing import tick
from tests.patience import wait_for_async


def test_a_schedule_has_a_name_or_that_of_its_type(app, thumbnail):
    app.schedule("nightly", thumbnail.call(path="a.png"), cron="0 3 * * *", tz="Europe/Vienna")
    app.schedule(thumbnail.call(path="b.png"), every=timedelta(minutes=5), catch_up="none", overlap="allow")
    tick(app)
    nightly, other = app.schedules()
    assert (nightly.name, nightly.plan.words()) == ("nightly", "At 03:00 every day, Europe/Vienna")
    assert (other.name, other.plan.catch_up, other.plan.overlap) == ("thumbnail", "none", "allow")
    assert other.plan.payload == '{"path":"b.png"}'


def test_nothing_is_written_when_the_code_is_read(app, thumbnail):
    app.schedule(thumbnail.call(path="a.png"), every=60)
    assert app.schedules() == []


def test_the_same_line_may_be_read_twice_but_a_name_has_one_meaning(app, thumbnail):
    for _ in range(2):
        app.schedule("nightly", thumbnail.call(path="a.png"), cron="@daily")
    with pytest.raises(BadInput, match="another schedule 'nightly'"):
        app.schedule("nightly", thumbnail.call(path="a.png"), cron="@hourly")


@pytest.mark.parametrize("what", [(), ("nightly",), ("nightly", "thumbnail"), (len,), (None, None), ("nightly", 3)])
def test_a_schedule_needs_a_call(app, what):
    with pytest.raises((BadInput, TypeError)):
        app.schedule(*what, every=60)


def test_a_payload_that_does_not_fit_is_refused_where_it_is_written(app, thumbnail):
    with pytest.raises(BadInput, match="path"):
        app.schedule(thumbnail, every=60)
    with pytest.raises(BadInput, match="path"):
        app.schedules.add("nightly", "thumbnail", {"width": 3}, every=60)
    with pytest.raises(BadInput, match="leave out key"):
        app.schedule(thumbnail.using(key="a").call(path="a.png"), every=60)


def test_options_of_the_handler_go_along(app, thumbnail, clock):
    app.schedule(thumbnail.using(queue="slow", priority=2, tenant="acme", timeout=9).call(path="a.png"), every=60)
    clock.advance(60)
    tick(app)
    (job,) = app.jobs()
    assert (job.queue, job.priority, job.tenant, job.timeout_ms) == ("slow", 2, "acme", 9_000)


def test_schedules_are_made_and_changed_at_run_time(app, thumbnail):
    app.schedules.add("by name", "elsewhere", {"n": 1}, every=60, priority=1)
    app.schedules.add("by call", thumbnail.call(path="a.png"), cron="0 3 * * *", by="ann")
    app.schedules.add("by handler", app.job(lambda_free), cron="0 3 * * *", queue="slow")
    assert [one.name for one in app.schedules()] == ["by call", "by handler", "by name"]
    assert app.schedules.get("by call").updated_by == "ann"
    assert app.schedules.pause("by name").paused_by == "app"
    assert app.schedules.resume("by name").paused_at is None
    handle = app.schedules.trigger("by call")
    assert app.get(handle.id).payload == {"path": "a.png"}
    assert app.schedules.remove("by name").removed
    with pytest.raises(NotFound):
        app.schedules.get("by name")


def lambda_free() -> None:
    """A handler without arguments."""


def test_what_was_changed_can_be_reset(app, thumbnail):
    app.schedule("nightly", thumbnail.call(path="a.png"), cron="@daily")
    tick(app)
    app.schedules.add("nightly", thumbnail.call(path="b.png"), cron="@hourly")
    assert app.schedules.get("nightly").as_json(0)["changed"] is True
    after = app.schedules.reset("nightly").as_json(0)
    assert (after["cron"], after["payload"], after["changed"]) == ("@daily", {"path": "a.png"}, False)


@pytest.mark.parametrize(
    ("what", "payload", "options"),
    [(3, None, {}), (None, {}, {}), ("call", {"path": "x"}, {}), ("call", None, {"priority": 1}), ("handler", {}, {})],
)
def test_what_cannot_be_scheduled_is_refused(app, thumbnail, what, payload, options):
    given = {"call": thumbnail.call(path="a.png"), "handler": thumbnail}.get(what, what)
    with pytest.raises(BadInput):
        app.schedules.add("nightly", given, payload, every=60, **options)


def test_the_public_form_is_plain(app, thumbnail, clock):
    app.schedule(
        "nightly", thumbnail.using(timeout=5, group="g").call(path="a.png"), cron="0 3 * * *", tz="Europe/Vienna"
    )
    clock.advance(1)
    tick(app)
    app.schedules.pause("nightly", by="ann")
    shown = app.schedules.get("nightly").as_json(clock())
    assert shown["options"] == {
        "queue": "default", "priority": 5, "group": "g", "max_attempts": 3, "payload_version": 1, "timeout": 5.0,
    }  # fmt: skip
    assert shown["paused"] == {"since": "2025-01-16T12:00:01.000Z", "by": "ann"}
    assert (shown["next_tick"], shown["upcoming"], shown["every"]) == (None, [], None)
    open_again = app.schedules.resume("nightly").as_json(clock())
    assert open_again["next_tick"] == open_again["upcoming"][0] == "2025-01-17T02:00:00.000Z"
    assert len(open_again["upcoming"]) == 5


@pytest.mark.slow
def test_a_worker_inside_the_application_ticks(make_app):
    app = make_app()
    ran = []

    @app.job
    def beat() -> None:
        ran.append(time.time())

    @app.job
    def later() -> None:
        ran.append("later")

    app.schedule(beat, every=1)

    async def scenario():
        async with app.worker():
            await wait_for_async(lambda: len(ran) >= 3)
            app.schedules.add("later", later, every=1)
            app.schedules.pause("beat")
            await wait_for_async(lambda: "later" in ran)

    asyncio.run(scenario())
    assert app.schedules.get("beat").fired >= 3
