"""Schedules over HTTP."""

from __future__ import annotations

import pytest

from holdfast.http import answers

NIGHTLY = {"name": "nightly", "type": "report", "cron": "0 3 * * *", "tz": "Europe/Vienna", "priority": 2}


def test_a_schedule_is_made_listed_and_shown(site):
    made = site.post("/v1/schedules", NIGHTLY)
    assert made.status == 200
    answers.ScheduleView.model_validate(made.json)
    assert (made.json["words"], made.json["updated_by"]) == ("At 03:00 every day, Europe/Vienna", "http")
    assert made.json["options"]["priority"] == 2
    assert len(made.json["upcoming"]) == 5
    assert [one["name"] for one in site.get("/v1/schedules").json["items"]] == ["nightly"]
    assert site.get("/v1/schedules/nightly").json["cron"] == "0 3 * * *"


def test_a_schedule_is_changed_by_making_it_again(site):
    site.post("/v1/schedules", NIGHTLY)
    changed = site.post("/v1/schedules", {"name": "nightly", "type": "report", "every": 90, "payload": {"a": 1}}).json
    assert (changed["words"], changed["cron"], changed["payload"]) == ("Every 90 seconds", None, {"a": 1})


def test_a_schedule_is_paused_resumed_triggered_and_removed(site):
    site.post("/v1/schedules", NIGHTLY)
    assert site.post("/v1/schedules/nightly/pause").json["paused"]["by"] == "http"
    assert site.post("/v1/schedules/nightly/resume").json["paused"] is None
    triggered = site.post("/v1/schedules/nightly/trigger").json
    answers.Triggered.model_validate(triggered)
    reasons = site.get(f"/v1/jobs/{triggered['id']}/explain").json["reasons"]
    assert reasons[-1]["code"] == "SCHEDULED"
    assert site.post("/v1/schedules/nightly/reset").json["code"] == "NOT_IN_CODE"
    assert site.post("/v1/schedules/nightly/remove").json["removed"] is True
    assert site.get("/v1/schedules").json == {"items": []}


@pytest.mark.parametrize(("path", "name"), [("a%2Fb", "a/b"), ("%C3%A4", "ä"), ("pause", "pause")])
def test_a_schedule_may_have_any_printable_name(site, path, name):
    site.post("/v1/schedules", NIGHTLY | {"name": name})
    assert site.post(f"/v1/schedules/{path}/pause").json["name"] == name
    assert site.get(f"/v1/schedules/{path}").json["paused"]


@pytest.mark.parametrize("verb", ["pause", "resume", "trigger", "remove", "reset"])
def test_a_schedule_nobody_knows_is_not_found(site, verb):
    reply = site.post(f"/v1/schedules/nobody/{verb}")
    assert (reply.status, reply.json["code"]) == (404, "SCHEDULE_NOT_FOUND")
    assert site.get("/v1/schedules/nobody").status == 404


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"cron": "0 3 * *"}, "BAD_SCHEDULE"),
        ({"cron": None}, "BAD_SCHEDULE"),
        ({"every": 5}, "BAD_SCHEDULE"),
        ({"tz": "Mars/Olympus"}, "BAD_SCHEDULE"),
        ({"name": "a\nb"}, "BAD_NAME"),
        ({"name": ""}, "BAD_NAME"),
        ({"type": ""}, "BAD_NAME"),
        ({"priority": 11}, "PRIORITY_OUT_OF_RANGE"),
        ({"catch_up": "some"}, "BAD_OPTION"),
        ({"key": "mine"}, "BAD_OPTION"),
        ({"cron": 3}, "BAD_OPTION"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(site, change, code):
    reply = site.post("/v1/schedules", NIGHTLY | change)
    assert (reply.status, reply.json["code"]) == (400, code)
    assert site.get("/v1/schedules").json == {"items": []}
