"""Groups, tenants and pauses over HTTP."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.patience import wait_for


@pytest.fixture
def filled(site):
    site.post("/v1/jobs", [{"type": "a", "group": "g/1"}, {"type": "b", "group": "g/1"}])
    return site


def test_a_group_is_shown_in_numbers(filled):
    reply = filled.get("/v1/groups/g/1")
    assert (reply.status, reply.json["total"], reply.json["counts"]["queued"]) == (200, 2, 2)
    assert filled.get("/v1/groups/none").json["code"] == "GROUP_NOT_FOUND"
    assert filled.get("/v1/groups/g/1?tenant=acme").status == 404


def test_a_wait_ends_with_the_next_change_of_the_group(filled):
    version = filled.get("/v1/groups/g/1").json["version"]
    assert filled.get("/v1/groups/g/1?wait=20&since=another").json["version"] == version
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(filled.get, f"/v1/groups/g/1?wait=20&since={version}") for _ in range(3)]
        waiting.append(pool.submit(filled.get, "/v1/groups/g/1?wait=20"))
        wait_for(lambda: sum(map(len, filled.app.watch._waiters.values())) == 4)
        filled.post("/v1/groups/g/1/cancel", {"types": ["a"]})
        seen = [one.result(10).json for one in waiting]
    assert {one["counts"]["cancelled"] for one in seen} == {1}
    assert version not in {one["version"] for one in seen}
    assert filled.get("/v1/groups/g/1?wait=0.1").json["done"] == 1


def test_a_group_that_is_done_is_answered_at_once(filled):
    filled.post("/v1/groups/g/1/cancel")
    assert filled.get("/v1/groups/g/1?wait=20").json["done"] == 2


@pytest.mark.parametrize("query", ["", "?wait=20"])
def test_a_group_that_nobody_made_is_told_as_unknown_at_once(filled, query):
    reply = filled.get(f"/v1/groups/nosuch{query}")
    assert (reply.status, reply.json["code"]) == (404, "GROUP_NOT_FOUND")


def test_a_wait_for_the_first_job_of_a_group_is_told_of_it(filled):
    """Who knows the version of a group without jobs waits for them."""
    version = filled.app.group("to-come").progress()["version"]
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(filled.get, f"/v1/groups/to-come?wait=20&since={version}")
        wait_for(lambda: sum(map(len, filled.app.watch._waiters.values())) == 1)
        filled.app.enqueue("a", group="to-come")
        assert waiting.result(10).json["total"] == 1


def test_a_group_is_cancelled_by_scope_and_mode(filled):
    filled.claim("a")
    reply = filled.post("/v1/groups/g/1/cancel", {"mode": "full"})
    assert reply.status == 200
    assert reply.json["by_type"] == {"a": {"in_progress": 1}, "b": {"queued": 1}}
    assert reply.json["still_running"] == 1
    assert filled.post("/v1/groups/g/1/cancel", {"wait": 5}).json["code"] == "BAD_OPTION"
    assert filled.post("/v1/groups/g/1/cancel", {"mode": "hard"}).status == 400


def test_one_job_is_cancelled_in_full(filled):
    (claim,) = filled.claim("a")
    reply = filled.post(f"/v1/jobs/{claim.id}/cancel", {"mode": "full"}).json
    assert (reply["status"], reply["still_running"]) == ("cancelled", 1)


def test_groups_and_tenants_are_paused_and_resumed(site):
    site.post("/v1/jobs", {"type": "a", "group": "g", "tenant": "acme"})
    assert site.post("/v1/groups/g/pause", {"tenant": "acme"}).json == {
        "scope": "group", "tenant": "acme", "name": "g", "paused": True, "changed": True, "jobs": 1,
    }  # fmt: skip
    assert site.post("/v1/tenants/acme/pause").json["changed"] is True
    assert site.claim("a") == []
    pauses = site.get("/v1/pauses").json["items"]
    assert [(one["scope"], one["name"], one["by"]) for one in pauses] == [
        ("group", "g", "http"), ("tenant", "acme", "http"),
    ]  # fmt: skip
    assert site.post("/v1/groups/g/resume", {"tenant": "acme"}).json["paused"] is False
    assert site.claim("a") == []
    assert site.post("/v1/tenants/acme/resume").json["jobs"] == 1
    assert len(site.claim("a")) == 1


@pytest.mark.parametrize("verb", ["pause", "resume", "cancel"])
def test_a_tenant_that_cannot_be_is_refused(site, verb):
    assert site.post(f"/v1/groups/g/{verb}", {"tenant": "a\x00b"}).status == 400
    assert site.get("/v1/groups/g?tenant=a%00b").status == 400
    assert site.get("/v1/batches?tenant=%00").status == 400
