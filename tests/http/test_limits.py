"""Limits over HTTP."""

from __future__ import annotations

import pytest

from holdfast.http import answers


def test_limits_are_set_listed_and_dropped(site):
    made = site.post("/v1/limits", {"name": "domain", "concurrency": 1})
    assert made.status == 200
    answers.LimitView.model_validate(made.json)
    assert (made.json["concurrency"], made.json["updated_by"], made.json["source"]) == (1, "http", "runtime")
    assert site.post("/v1/limits", {"name": "api", "rate": 100, "per": 60}).json["per"] == 60
    assert site.post("/v1/limits", {"fair": "images", "weights": {"acme": 2}}).json["weights"] == {"acme": 2}
    assert site.post("/v1/limits", {"exclusive": ["gpu", "browser"]}).json["queues"] == ["browser", "gpu"]
    names = [one["name"] for one in site.get("/v1/limits").json["items"]]
    assert names == ["api", "domain", "exclusive:browser+gpu", "fair:images"]
    assert site.post("/v1/limits/fair%3Aimages/drop").json["removed"] is True
    assert site.post("/v1/limits/domain/reset").json["code"] == "NOT_IN_CODE"


@pytest.mark.parametrize("verb", ["drop", "reset"])
def test_a_limit_nobody_knows_is_not_found(site, verb):
    assert site.post(f"/v1/limits/nobody/{verb}").status == 404


@pytest.mark.parametrize("body", [{}, {"name": "x"}, {"name": "x", "concurrency": -1}, {"name": "fair:x", "rate": 1}])
def test_what_cannot_be_is_refused(site, body):
    assert site.post("/v1/limits", body).json["code"] in ("BAD_LIMIT", "BAD_NAME")


def test_a_job_over_a_limit_says_so(site):
    site.post("/v1/limits", {"name": "domain", "concurrency": 0})
    made = site.post("/v1/jobs", {"type": "fetch", "limits": ["domain:a"]}).json
    reasons = site.get(f"/v1/jobs/{made['id']}/explain").json["reasons"]
    assert reasons[0]["code"] == "LIMITED"
    assert "domain:a" in reasons[0]["text"]
