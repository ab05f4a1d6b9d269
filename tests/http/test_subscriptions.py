"""Who hears of the ends of jobs, over HTTP."""

from __future__ import annotations

import pytest

from holdfast.http import flow_answers

OPS = {"name": "ops", "endpoint": "pager", "ends": ["dead_letter"], "types": ["charge"]}


def test_a_subscription_is_made_changed_and_removed(site):
    made = site.post("/v1/subscriptions", OPS)
    assert made.status == 200
    flow_answers.SubscriptionView.model_validate(made.json)
    assert made.json | OPS == made.json
    site.post("/v1/subscriptions", OPS | {"ends": ["failed"], "with_result": True})
    (one,) = site.get("/v1/subscriptions").json["items"]
    assert (one["ends"], one["with_result"], one["tenant"]) == (["failed"], True, None)
    assert site.post("/v1/subscriptions/ops/remove").json == {"name": "ops", "changed": True}
    gone = site.post("/v1/subscriptions/ops/remove")
    assert (gone.status, gone.json["code"]) == (404, "SUBSCRIPTION_NOT_FOUND")
    assert site.get("/v1/subscriptions").json == {"items": []}


@pytest.mark.parametrize(
    "wrong", [{"ends": []}, {"ends": ["queued"]}, {"name": ""}, {"endpoint": "\0"}, {"types": "charge"}, {"colour": 1}]
)
def test_what_cannot_be_is_refused(quiet_site, wrong):
    assert quiet_site.post("/v1/subscriptions", OPS | wrong).status == 400


def test_a_cancel_at_this_door_is_told(site):
    site.post("/v1/subscriptions", OPS | {"ends": ["cancelled"], "types": []})
    job = site.app.enqueue("charge", {})
    site.post(f"/v1/jobs/{job.id}/cancel")
    (told,) = site.get("/v1/jobs?type=holdfast.webhook").json["items"]
    assert told["payload"]["body"]["data"]["id"] == job.id
