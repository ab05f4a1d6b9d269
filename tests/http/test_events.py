"""Everybody sees the same picture, soon, and not too often."""

from __future__ import annotations

from itertools import pairwise
from time import monotonic

from holdfast.app import App
from holdfast.http.events import MOST_LISTENING
from tests.patience import wait_for


def picture_where(events, fact, seconds=10):
    end = monotonic() + seconds
    for at, name, picture in events:
        if name == "picture" and fact(picture):
            return at, picture
        assert monotonic() < end
    raise AssertionError("the stream ended")


def waiting(number):
    return lambda picture: picture["totals"]["waiting"] == number


def test_the_first_event_is_the_picture_as_it_is(site):
    site.post("/v1/jobs", {"type": "a", "payload": {"secret": 1}})
    with site.events() as events:
        _, name, picture = next(events)

    assert name == "picture"
    assert [job["type"] for job in picture["recent"]] == ["a"]
    assert "payload" not in picture["recent"][0]


def test_a_commit_is_seen_soon_by_every_client(site):
    with site.events() as one, site.events() as two:
        for events in (one, two):
            picture_where(events, waiting(0))
        committed = monotonic()
        site.app.enqueue("a")
        for events in (one, two):
            at, _ = picture_where(events, waiting(1))
            assert at - committed < 2


def test_a_commit_of_another_process_is_seen_too(site, tmp_path):
    with site.events() as events, App(site.app.url) as other:
        picture_where(events, waiting(0))
        other.enqueue("a")
        picture_where(events, waiting(1))


def test_a_burst_of_commits_makes_few_events(site):
    with site.events() as events:
        picture_where(events, waiting(0))
        began = monotonic()
        for _ in range(100):
            site.app.enqueue("a")
        times = []
        for at, _name, picture in events:
            times.append(at)
            if picture["totals"]["waiting"] == 100:
                break
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(times) <= 2 + 4 * (times[-1] - began)
    assert all(gap > 0.15 for gap in gaps), gaps


def test_running_jobs_pauses_and_progress_are_in_the_picture(site):
    site.app.enqueue("a")
    (claim,) = site.claim("a")
    site.app.desk.write(lambda tx: tx.progress(claim.id, claim.token, '{"done":1,"total":4,"message":"x"}'))
    site.post("/v1/queues/slow/pause")
    with site.events() as events:
        _, picture = picture_where(events, lambda seen: seen["running"] and seen["paused"])

    assert picture["running"][0]["progress"] == {"done": 1, "total": 4, "message": "x"}
    assert picture["paused"][0] == {"name": "slow", "since": picture["paused"][0]["since"], "by": "http"}


def test_nobody_is_looked_for_when_nobody_listens(site):
    listeners = len(site.app.desk.listeners)
    with site.events() as events:
        next(events)
        assert len(site.app.desk.listeners) == listeners + 1
    wait_for(lambda: len(site.app.desk.listeners) == listeners)


def test_a_store_that_goes_away_is_told_as_trouble(site):
    with site.events() as events:
        next(events)
        site.app.close()
        told = next(event for event in events if event[1] == "trouble")[2]
    assert told == {"code": "STORE_CLOSED", "detail": "the application was closed; the server's log has more"}


def test_one_client_too_many_is_refused(site, monkeypatch):
    monkeypatch.setattr("holdfast.http.events.MOST_LISTENING", 1)
    assert MOST_LISTENING == 100
    with site.events() as events:
        next(events)
        reply = site.get("/v1/events")
    assert (reply.status, reply.json["code"]) == (503, "TOO_MANY_WAITING")
