"""Queues, dead letters, figures, workers, health and pages."""

from __future__ import annotations

import os

import pytest

from holdfast.http import answers
from tests.http.site import running_site
from tests.patience import wait_for
from tests.servers import redis as redis_server


def test_a_queue_is_paused_shown_and_resumed(site):
    site.post("/v1/jobs", {"type": "a", "queue": "slow"})

    assert site.post("/v1/queues/slow/pause").json == {"name": "slow", "paused": True, "changed": True}
    assert site.post("/v1/queues/slow/pause").json["changed"] is False
    (queue,) = site.get("/v1/queues").json["items"]
    answers.QueueView.model_validate(queue)
    assert (queue["name"], queue["waiting"], queue["types"], queue["paused"]["by"]) == ("slow", 1, ["a"], "http")
    assert site.claim("a", queue="slow") == []

    assert site.post("/v1/queues/slow/resume").json == {"name": "slow", "paused": False, "changed": True}
    assert site.get("/v1/queues").json["items"][0]["paused"] is None
    assert len(site.claim("a", queue="slow")) == 1


@pytest.mark.parametrize(("path", "name"), [("a%2Fb", "a/b"), ("%C3%A4", "ä"), ("pause", "pause"), ("a%20b", "a b")])
def test_a_queue_may_have_any_printable_name(site, path, name):
    assert site.post(f"/v1/queues/{path}/pause").json["name"] == name
    assert [queue["name"] for queue in site.get("/v1/queues").json["items"]] == [name]


@pytest.mark.parametrize("path", ["%00", "%09", "x" * 256, "%1b%5b31m"])
def test_a_queue_has_no_unprintable_name(site, path):
    reply = site.post(f"/v1/queues/{path}/pause")

    assert (reply.status, reply.json["code"]) == (400, "BAD_NAME")


def test_dead_letters_are_listed_by_type_page_by_page(site):
    ids = [site.dead("x"), site.dead("y"), site.dead("x")]

    everything = site.get("/v1/dead-letter").json
    answers.JobPage.model_validate(everything)
    first = site.get("/v1/dead-letter?type=x&limit=1").json
    second = site.get(f"/v1/dead-letter?type=x&limit=1&before={first['next']}").json

    assert [job["id"] for job in everything["items"]] == ids[::-1]
    assert [job["id"] for job in first["items"] + second["items"]] == [ids[2], ids[0]]
    assert site.get("/v1/dead-letter?tenant=nobody").json == {"items": [], "next": None}


def test_dead_letters_are_retried_by_type_and_in_batches(site):
    for kind in ("x", "y", "x"):
        site.dead(kind)

    assert site.post("/v1/dead-letter/retry", {"type": "x", "limit": 1}).json == {"count": 1, "more": True}
    assert site.post("/v1/dead-letter/retry", {"type": "x"}).json == {"count": 1, "more": False}
    assert [job["type"] for job in site.get("/v1/dead-letter").json["items"]] == ["y"]
    assert site.send("POST", "/v1/dead-letter/retry").json == {"count": 1, "more": False}


def test_who_purged_what_is_told_afterwards(site):
    job_id, other = site.dead("x"), site.dead("y", tenant="her")
    site.post("/v1/dead-letter/purge", {"all": True})
    page = site.get("/v1/audit?limit=1").json
    assert page["next"] == page["items"][0]["id"]
    rest = site.get(f"/v1/audit?before={page['next']}").json
    assert rest["next"] is None
    lines = {line["type"]: line for line in page["items"] + rest["items"]}
    assert (lines["x"]["actor"], lines["x"]["act"], lines["x"]["jobs"]) == ("http", "purge", [job_id])
    assert [line["jobs"] for line in site.get("/v1/audit?tenant=her").json["items"]] == [[other]]


def test_dead_letters_are_purged_for_good(site):
    kept, gone = site.dead("x"), site.dead("y")

    assert site.post("/v1/dead-letter/purge", {"type": "y"}).json == {"count": 1, "more": False}
    assert site.get(f"/v1/jobs/{gone}").status == 404
    assert site.get(f"/v1/jobs/{kept}").status == 200


def test_the_statistics_count_every_line_and_all_together(site):
    site.post("/v1/jobs", [{"type": "a"}, {"type": "a"}, {"type": "b", "queue": "slow"}])
    site.complete("a")
    site.dead("c")

    seen = site.get("/v1/stats").json

    answers.Statistics.model_validate(seen)
    assert (seen["totals"]["waiting"], seen["totals"]["completed_1h"], seen["totals"]["dead"]) == (2, 1, 1)
    assert [(line["queue"], line["type"], line["waiting"]) for line in seen["lines"]] == [
        ("default", "a", 1),
        ("default", "c", 0),
        ("slow", "b", 1),
    ]


def test_workers_are_shown_with_what_they_draw_from(site):
    beat = {
        "id": "host:1:x", "host": "host", "pid": 1, "started_at": "2025-01-16T12:00:00.000Z",
        "lanes": '[["default", "a", 1]]', "places": 10, "running": 3,
    }  # fmt: skip
    site.app.desk.write(lambda tx: tx.beat(beat))

    (worker,) = site.get("/v1/workers").json["items"]

    answers.WorkerView.model_validate(worker)
    assert (worker["places"], worker["lanes"]) == (10, [{"queue": "default", "type": "a", "version": 1}])


@pytest.mark.parametrize("path", ["/v1/health/live", "/v1/health/ready"])
def test_a_healthy_server_says_so(site, path):
    for method in ("GET", "HEAD"):
        assert site.send(method, path).status == 200
    assert site.get(path).json == {"status": "ok"}


def test_a_server_without_its_store_is_alive_and_not_ready(site):
    site.app.close()

    assert site.get("/v1/health/live").status == 200
    reply = site.get("/v1/health/ready")
    assert (reply.status, reply.json["code"], reply.headers["retry-after"]) == (503, "STORE_CLOSED", "1")


def test_the_page_and_its_files_are_served(site):
    page = site.get("/?whatever=1")
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    text = page.body.decode()
    assert "<script>" not in text
    assert " style=" not in text
    for name in ("style.css", "parts.css", "overview.js", "icon.svg"):
        assert f"/static/{name}" in text
        file = site.get(f"/static/{name}")
        assert (file.status, file.headers["cache-control"]) == (200, "no-cache")
        assert site.get(f"/static/{name}", headers={"If-None-Match": file.headers["etag"]}).status == 304


@pytest.mark.parametrize("path", ["../site.py", "%2e%2e/site.py", "..%2fsite.py", "/etc/passwd", "%00", "a" * 5000])
def test_files_beside_the_page_are_not_served(site, path):
    reply = site.get(f"/static/{path}")

    assert (reply.status, reply.json["code"]) == (404, "NO_SUCH_PATH")


@pytest.mark.parametrize("body", [None, {}, {"limit": 5}, {"all": False}, {"all": True, "type": "y"}])
def test_a_purge_says_which(site, body):
    job_id = site.dead()
    answer = site.post("/v1/dead-letter/purge", body)
    assert (answer.status, answer.json["code"]) == (400, "BAD_OPTION")
    assert site.get(f"/v1/jobs/{job_id}").status == 200


def test_all_dead_letters_are_purged_when_that_is_said(site):
    site.dead()
    site.dead()
    assert site.post("/v1/dead-letter/purge", {"all": True}).json == {"count": 2, "more": False}


@pytest.mark.slow
def test_a_server_that_requires_the_signal_is_ready_only_while_it_is_proven(tmp_path):
    own = redis_server.OwnServer()
    try:
        with running_site(tmp_path, signal=own.url, require_signal=True) as site:
            assert site.get("/v1/health/ready").status == 200
            own.stop()
            assert wait_for(lambda: site.get("/v1/health/ready").status == 503)
            reply = site.get("/v1/health/ready")
            assert (reply.json["code"], reply.headers["retry-after"]) == ("NOT_READY", "1")
            assert "signal" in reply.json["detail"]
            assert site.get("/v1/health/live").status == 200
            own.start()
            assert wait_for(lambda: site.get("/v1/health/ready").status == 200)
    finally:
        own.remove(os.getpid())


@pytest.mark.parametrize(("signal", "status"), [("store", 200), ("off", 503)])
def test_what_requires_a_signal_needs_one(tmp_path, signal, status):
    with running_site(tmp_path, signal=signal, require_signal=True) as site:
        assert site.get("/v1/health/ready").status == status
