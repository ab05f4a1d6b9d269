"""Parked jobs over HTTP."""

from __future__ import annotations

import json

import pytest

from holdfast.engine import leases, sealing
from holdfast.http import answers
from holdfast.model.lease import Lane
from holdfast.model.outcome import Parked
from holdfast.store.port import Order
from holdfast.webhooks import new_secret

URL = "https://example.org/login"


def parked(site, key="example.org", **options):
    site.app.enqueue("fetch", {}, **options)
    (claim,) = site.app.desk.write(leases.claim, Order("here", [Lane("default", "fetch")], 1, 60_000))
    site.app.desk.write(leases.finish, [(claim, Parked("log in", URL, key, 3_600_000))])
    return claim.id


def test_a_parked_job_tells_what_it_waits_for(site):
    job_id = parked(site)
    shown = site.get(f"/v1/jobs/{job_id}").json
    answers.JobView.model_validate(shown)
    assert (shown["auth"]["reason"], shown["auth"]["url"], shown["auth"]["key"]) == ("log in", URL, "example.org")
    for view in ("full", "summary"):
        (listed,) = site.get(f"/v1/jobs?status=awaiting_auth&view={view}").json["items"]
        assert listed["auth"] == shown["auth"]
    assert site.get("/v1/stats").json["totals"]["awaiting_auth"] == 1


def test_one_goes_on(site):
    job_id = parked(site)
    reply = site.post(f"/v1/jobs/{job_id}/resume")
    assert (reply.status, reply.json["status"], reply.json["auth"]) == (200, "queued", None)
    assert [line["actor"] for line in site.get(f"/v1/jobs/{job_id}/history").json["items"]][-1] == "http"
    again = site.post(f"/v1/jobs/{job_id}/resume", {})
    assert (again.status, again.json["code"]) == (409, "WRONG_STATUS")
    assert site.post("/v1/jobs/01JHQ8Y3M0G5V7T2K4N6P8R0SD/resume").status == 404


def test_those_of_a_key_or_a_group_go_on(site):
    first, second, third = parked(site), parked(site, "other.org", group="g"), parked(site, tenant="acme")
    reply = site.post("/v1/resume", {"key": "example.org"})
    answers.Resumed.model_validate(reply.json)
    assert (reply.status, reply.json) == (200, {"count": 1, "ids": [first], "next": None})
    assert site.post("/v1/resume", {"group": "g"}).json["ids"] == [second]
    assert site.post("/v1/resume", {"key": "example.org", "tenant": "acme"}).json["ids"] == [third]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"key": "a", "group": "b"},
        {"key": ""},
        {"key": "\0"},
        {"key": 7},
        {"colour": 1},
        {"key": "a", "tenant": "\0"},
    ],
)
def test_what_cannot_be_is_refused(quiet_site, body):
    reply = quiet_site.post("/v1/resume", body)
    assert reply.status == 400


def test_data_is_for_the_handler_alone(site, monkeypatch):
    job_id = parked(site)
    monkeypatch.delenv(sealing.VARIABLE, raising=False)
    refused = site.post(f"/v1/jobs/{job_id}/resume", {"data": {"code": "123"}})
    assert (refused.status, refused.json["code"]) == (400, "NO_SECRET")
    monkeypatch.setenv(sealing.VARIABLE, new_secret())
    reply = site.post(f"/v1/jobs/{job_id}/resume", {"data": {"code": "very-private"}})
    assert reply.status == 200
    told = [reply.json, site.get(f"/v1/jobs/{job_id}").json, site.get(f"/v1/jobs/{job_id}/history").json]
    assert "very-private" not in json.dumps(told)
    (claim,) = site.app.desk.write(leases.claim, Order("here", [Lane("default", "fetch")], 1, 60_000))
    assert sealing.unseal(job_id, claim.auth_data) == {"code": "very-private"}
    assert claim.auth_data not in json.dumps(site.get(f"/v1/jobs/{job_id}").json)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/jobs?type=%00",
        "/v1/jobs?tenant=a%00b",
        "/v1/jobs?before=%00",
        "/v1/dead-letter?type=%00",
        "/v1/audit?tenant=%00",
    ],
)
def test_a_zero_byte_in_a_filter_is_the_callers_error(quiet_site, path):
    reply = quiet_site.get(path)
    assert (reply.status, reply.json["code"]) == (400, "BAD_OPTION")


def test_a_zero_byte_is_no_job(quiet_site):
    assert quiet_site.get("/v1/jobs/%00").status == 404
