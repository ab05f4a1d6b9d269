from __future__ import annotations

import re

import pytest

from holdfast.cli.plain import coming
from holdfast.testing import tick
from tests.cli.given import EVIL, RAW

NIGHTLY = ("schedule", "add", "nightly", "report", "--cron", "0 3 * * *", "--tz", "Europe/Vienna")


def test_a_schedule_is_made_and_told_in_words_with_its_next_ticks(cli):
    told = cli(*NIGHTLY, "--payload", '{"day": "today"}', "--queue", "slow").out
    assert re.search(r"^when +At 03:00 every day, Europe/Vienna$", told, re.MULTILINE)
    assert "queue slow" in told
    assert '"day": "today"' in told
    assert told.count(" 03:00 CE") == 5
    (shown,) = cli("schedules", "--json").json
    assert (shown["name"], shown["type"], shown["source"], len(shown["upcoming"])) == (
        "nightly",
        "report",
        "runtime",
        5,
    )
    assert shown["updated_by"].startswith("cli:")


def test_schedules_are_listed(cli):
    cli(*NIGHTLY)
    cli("schedule", "add", "poll", "fetch", "--every", "30s")
    for command in (("schedules",), ("schedule", "list")):
        head, nightly, poll = cli(*command).out.splitlines()
        assert head.split() == ["NAME", "WHEN", "TYPE", "STATE", "NEXT", "LAST", "FIRED", "SKIPPED", "MISSED", "FROM"]
        assert nightly.startswith("nightly  At 03:00 every day, Europe/Vienna  report  on")
        assert poll.startswith("poll     Every 30 seconds")


@pytest.mark.parametrize(
    ("at", "told"), [(12_000, "in 2 s"), (10_000, "now"), (9_000, "now"), (5_001, "now"), (4_000, "6 s ago")]
)
def test_a_tick_that_is_being_made_is_due_now(at, told):
    assert coming(at, 10_000) == told


def test_without_schedules_it_says_how_to_make_one(cli, app):
    app.jobs()
    assert cli("schedules", "--json").json == []
    assert "holdfast schedule add" in cli("schedules").err


def test_the_next_ticks_are_shown_on_the_clocks_of_the_zone(cli):
    cli(*NIGHTLY)
    words, head, *lines = cli("schedule", "next", "nightly", "--count", "3").out.splitlines()
    assert words == "At 03:00 every day, Europe/Vienna"
    assert head.split() == ["ON", "THE", "CLOCK", "UTC", "IN"]
    assert [line.split()[1] for line in lines] == ["03:00"] * 3
    assert len(cli("schedule", "next", "nightly", "--json").json) == 5
    cli("schedule", "pause", "nightly")
    assert cli("schedule", "next", "nightly").err == "it makes no jobs now: it is paused\n"


def test_an_expression_is_tried_without_a_store(bare):
    answer = bare("schedule", "next", "--cron", "*/15 * * * *", "--count", "2")
    assert answer.out.splitlines()[0] == "Every 15th minute of every hour, UTC"
    assert answer.code == 0


@pytest.mark.parametrize("arguments", [(), ("nightly", "--cron", "* * * * *")])
def test_next_needs_a_name_or_an_expression(cli, arguments):
    answer = cli("schedule", "next", *arguments)
    assert (answer.code, "--cron" in answer.err) == (2, True)


def test_a_schedule_is_paused_and_resumed(cli):
    cli(*NIGHTLY)
    assert cli("schedule", "pause", "nightly").out == "schedule nightly is paused\n"
    assert cli("schedule", "pause", "nightly").err == "it was so before\n"
    assert "paused by cli:" in cli("schedule", "show", "nightly").out
    assert cli("schedule", "resume", "nightly").out == "schedule nightly is on\n"
    assert cli("schedule", "resume", "nightly", "--json").json["paused"] is None


def test_a_misspelt_schedule_is_told_with_the_one_that_was_meant(cli):
    cli("schedule", "add", "nightly", "report", "--cron", "0 3 * * *")
    answer = cli("schedule", "trigger", "nigthly")
    assert answer.code == 1
    assert "did you mean nightly?" in answer.err
    assert "did you mean" not in cli("schedule", "trigger", "zzz").err


def test_a_job_is_triggered_and_explained(cli):
    cli(*NIGHTLY)
    job_id = cli("schedule", "trigger", "nightly").out.strip()
    assert "SCHEDULED: made by schedule 'nightly', by hand" in cli("job", "explain", job_id).out
    assert cli("schedule", "trigger", "nightly", "--json").json["name"] == "nightly"


def test_a_schedule_of_the_code_is_changed_removed_and_reset(cli, app):
    app.schedule("nightly", app.job(report).call(), cron="0 5 * * *")
    tick(app)
    assert "changed from what the code says" in cli(*NIGHTLY).out
    answer = cli("schedule", "remove", "nightly")
    assert (answer.out, "reset" in answer.err) == ("schedule nightly is removed\n", True)
    assert "removed" in cli("schedules").out
    assert cli("schedule", "pause", "nightly").code == 1
    assert "At 05:00 every day, UTC" in cli("schedule", "reset", "nightly").out


def report() -> None:
    """A handler."""


def test_one_that_was_made_here_is_gone_when_it_is_removed(cli):
    cli(*NIGHTLY)
    assert cli("schedule", "remove", "nightly", "--json").json["removed"] is True
    assert cli("schedules", "--json").json == []


def test_what_became_of_ticks_is_shown(cli, app, monkeypatch):
    cli(*NIGHTLY)
    row = app.schedules.get("nightly")
    from dataclasses import replace

    after = replace(row, last_tick=1_700_000_000_000, skipped=2, missed=3, fired=4, note="skipped one", last_job="01A")
    app.desk.write(lambda tx: tx.change_schedule(after))
    told = cli("schedule", "show", "nightly").out
    assert "4 fired, 2 skipped, 3 missed" in told
    assert "skipped one" in told
    assert "2023-11-14T22:13:20.000Z" in told


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("schedule", "add", "x", "report", "--cron", "0 3 * *"), "BAD_SCHEDULE"),
        (("schedule", "add", "x", "report"), "BAD_SCHEDULE"),
        (("schedule", "add", "x", "report", "--cron", "@daily", "--tz", "Mars/Olympus"), "BAD_SCHEDULE"),
        (("schedule", "add", "x", "report", "--every", "1s", "--tz", "Europe/Vienna"), "BAD_SCHEDULE"),
        (("schedule", "add", "x", "report", "--every", "1s", "--payload", "[1]"), "PAYLOAD_INVALID"),
        (("schedule", "add", "a\nb", "report", "--every", "1s"), "BAD_NAME"),
        (("schedule", "next", "--cron", "60 * * * *"), "BAD_SCHEDULE"),
    ],
)
def test_what_cannot_be_is_wrong_use(cli, app, arguments, code):
    app.jobs()
    answer = cli(*arguments)
    assert (answer.code, answer.err.splitlines()[-1].split(":")[0]) == (2, f"error {code}")


@pytest.mark.parametrize("verb", ["show", "next", "pause", "resume", "trigger", "remove", "reset"])
def test_a_schedule_nobody_knows_is_told_of(cli, app, verb):
    app.jobs()
    answer = cli("schedule", verb, "nobody")
    assert answer.code == 1
    assert answer.err.startswith("error SCHEDULE_NOT_FOUND: no schedule 'nobody'")


def test_top_tells_when_the_next_tick_is(cli):
    cli(*NIGHTLY)
    assert "next tick in" in cli("top", "--once").out


def test_hostile_text_does_not_reach_the_terminal(cli, app):
    app.schedules.add("x", "report", {"text": EVIL}, every=60)
    for command in (("schedules",), ("schedule", "show", "x"), ("schedule", "show", "x", "--json")):
        answer = cli(*command)
        assert not any(raw in answer.out for raw in RAW)
