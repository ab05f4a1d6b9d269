from __future__ import annotations

import json
from datetime import timedelta
from time import perf_counter

import pytest

from holdfast.model import stamp
from holdfast.model.errors import BadInput
from holdfast.model.request import NewJob
from holdfast.model.schedule import (
    GRACE_MS,
    MOST_CAUGHT_UP,
    MOST_COUNTED,
    Origin,
    check_schedule_name,
    key_by_hand,
    key_of,
    origin_of,
    plan_from_text,
    plan_of,
)

NOON = stamp.from_text("2025-01-16T12:00:00.000Z")
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def plan(catch_up="last", **when):
    when = when or {"cron": "0 * * * *"}
    return plan_of(NewJob("report", '{"day":"today"}'), catch_up=catch_up, **when)


@pytest.mark.parametrize(
    ("catch_up", "late", "run", "missed"),
    [
        ("last", 0, [0], 0),
        ("last", 10 * MINUTE, [0], 0),
        ("last", 3 * HOUR, [3 * HOUR], 3),
        ("none", 0, [0], 0),
        ("none", GRACE_MS, [0], 0),
        ("none", GRACE_MS + 1, [], 1),
        ("none", 3 * HOUR, [3 * HOUR], 3),  # the last tick has just come; those before were missed
        ("none", 3 * HOUR + GRACE_MS + 1, [], 4),
        ("all", 0, [0], 0),
        ("all", 3 * HOUR + 1, [0, HOUR, 2 * HOUR, 3 * HOUR], 0),
    ],
)
def test_what_becomes_of_ticks_that_nobody_was_there_for(catch_up, late, run, missed):
    due = plan(catch_up).due(NOON, NOON + late)
    assert [at - NOON for at in due.ticks] == run
    assert due.missed == missed
    assert due.last == NOON + late // HOUR * HOUR
    assert due.following == due.last + HOUR


def test_all_means_the_last_hundred():
    due = plan("all").due(NOON, NOON + 10 * DAY)
    assert due.ticks == [NOON + 10 * DAY - HOUR * back for back in range(MOST_CAUGHT_UP - 1, -1, -1)]
    assert due.missed == 241 - MOST_CAUGHT_UP


@pytest.mark.parametrize("when", [{"cron": "* * * * *"}, {"cron": "*/7 3 * * *", "tz": "Europe/Vienna"}, {"every": 1}])
def test_an_outage_of_years_is_dealt_with_in_a_moment(when):
    years = plan("all", **when)
    first = years.next_after(NOON)
    now = first + 10 * 365 * DAY + 1
    begun = perf_counter()
    due = years.due(first, now)
    assert perf_counter() - begun < 2
    assert len(due.ticks) == MOST_CAUGHT_UP
    assert due.missed == MOST_COUNTED - MOST_CAUGHT_UP  # at least: it stops counting
    assert due.ticks == sorted(due.ticks)
    assert due.ticks[-1] == due.last <= now < due.following
    assert all(years.next_after(at) == then for at, then in zip(due.ticks, due.ticks[1:], strict=False))


def test_an_outage_that_is_long_only_by_its_count_loses_none_of_its_last_hundred():
    """More ticks than are counted, fewer than a hundred in the hour that is looked at first."""
    minutes = plan("all", every=60)
    due = minutes.due(NOON, NOON + 1_200 * MINUTE)
    assert due.ticks == [NOON + MINUTE * number for number in range(1_101, 1_201)]


def test_a_plan_has_no_tick_after_the_last_year():
    due = plan("last", cron="0 0 1 1 *").due(stamp.from_text("9999-01-01T00:00:00.000Z"), stamp.LAST)
    assert (due.ticks, due.following) == ([stamp.from_text("9999-01-01T00:00:00.000Z")], None)
    assert plan(cron="0 0 1 1 *").upcoming(stamp.LAST - DAY) == []


def test_an_interval_ticks_by_elapsed_time_for_everyone_alike():
    ticks = plan(every=timedelta(minutes=15)).upcoming(NOON + 1)
    assert [at - NOON for at in ticks] == [15 * MINUTE * number for number in range(1, 6)]
    assert plan(every=900).upcoming(NOON + 14 * MINUTE, 1) == ticks[:1]


@pytest.mark.parametrize(
    ("every", "words"),
    [(1, "Every second"), (90, "Every 90 seconds"), (60, "Every minute"), (900, "Every 15 minutes"),
     (7200, "Every 2 hours"), (86400, "Every day"), (1.5, "Every 1.5 seconds")],
)  # fmt: skip
def test_an_interval_is_put_into_words(every, words):
    assert plan(every=every).words() == words


def test_a_plan_keeps_what_its_jobs_are_enqueued_with():
    asked = NewJob(
        "report", '{"day":"today"}', queue="slow", priority=2, group="g", tenant="acme", max_attempts=7, timeout=30,
        context='{"user_id":"ann"}', payload_version=3,
    )  # fmt: skip
    kept = plan_from_text(plan_of(asked, cron="@daily", tz="Europe/Vienna", overlap="allow").as_text())
    job = kept.new_job("k", NOON)
    for name in ("type", "payload", "queue", "priority", "group", "tenant", "max_attempts", "timeout_ms", "context"):
        assert getattr(job, name) == getattr(asked, name)
    assert (job.key, job.key_window, job.scheduled_at, job.delay, job.payload_version) == ("k", None, NOON, None, 3)
    assert (kept.tenant, kept.overlap, kept.words()) == ("acme", "allow", "At 00:00 every day, Europe/Vienna")


def test_two_plans_of_the_same_times_may_differ_elsewhere():
    assert plan(cron="0 3 * * *").same_times(plan("all", cron="0 3 * * *"))
    assert not plan(cron="0 3 * * *").same_times(plan(cron="0 3 * * *", tz="Europe/Vienna"))


@pytest.mark.parametrize(
    ("when", "text"),
    [
        ({}, "one of the two"),
        ({"cron": "* * * * *", "every": 60}, "one of the two"),
        ({"cron": "* * * *"}, "cannot be read"),
        ({"cron": ["* * * * *"]}, "cannot be read"),
        ({"cron": "* * * * *", "tz": "Mars/Olympus"}, "no time zone"),
        ({"cron": "* * * * *", "tz": 7}, "no time zone"),
        ({"every": 0.5}, "once a second"),
        ({"every": 60, "tz": "Europe/Vienna"}, "elapsed time"),
        ({"every": 60, "catch_up": "some"}, "catch_up is last, none or all"),
        ({"every": 60, "catch_up": None}, "catch_up is last, none or all"),
        ({"every": 60, "overlap": "queue"}, "overlap is skip or allow"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(when, text):
    with pytest.raises(BadInput, match=text) as caught:
        plan_of(NewJob("report", "{}"), **when)
    assert caught.value.code == "BAD_SCHEDULE"


@pytest.mark.parametrize("every", [0, -1, 1e12, float("nan"), "60", True])
def test_an_interval_is_a_usable_time(every):
    with pytest.raises(BadInput):
        plan_of(NewJob("report", "{}"), every=every)


@pytest.mark.parametrize("option", [{"key": "a"}, {"delay": 5}, {"scheduled_at": "2025-01-16T12:00:00Z"}])
def test_time_and_key_of_its_jobs_are_the_schedules_own(option):
    with pytest.raises(BadInput, match="leave out key"):
        plan_of(NewJob("report", "{}", **option), every=60)


def test_ticks_do_not_replace_each_other():
    with pytest.raises(BadInput, match="leave out coalesce_key"):
        plan_of(NewJob("report", "{}", coalesce_key="a"), every=60)
    with pytest.raises(BadInput, match="leave out depends_on"):
        plan_of(NewJob("report", "{}", depends_on="a"), every=60)


@pytest.mark.parametrize("name", ["nightly", "a/b", "schedule:x", "by-hand/1", "ü" * 150])
def test_a_key_tells_its_schedule_and_tick(name):
    assert origin_of(key_of(check_schedule_name(name), NOON)) == Origin(name, NOON)
    assert origin_of(key_by_hand(name, "01ABC")) == Origin(name, None)


@pytest.mark.parametrize(
    "key", [None, "", "mine", "schedule:", "schedule:x", "schedule:x/y", "schedule:/2025-01-16T12:00:00.000Z"]
)
def test_other_keys_tell_nothing(key):
    assert origin_of(key) is None


@pytest.mark.parametrize("name", ["", "x" * 151, "a\nb", None, 3, "\ud800"])
def test_a_name_that_cannot_be_is_refused(name):
    with pytest.raises(BadInput) as caught:
        check_schedule_name(name)
    assert caught.value.code == "BAD_NAME"


def test_the_options_of_a_plan_are_plain_json():
    assert json.loads(plan().options)["queue"] == "default"
