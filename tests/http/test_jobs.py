from __future__ import annotations

import pytest

from holdfast.app import OPTIONS
from holdfast.http import answers, shapes
from tests.http.site import running_site


def test_a_job_is_accepted_and_can_be_looked_at(site):
    reply = site.post("/v1/jobs", {"type": "thumbnail", "payload": {"path": "ä.png"}, "queue": "images", "priority": 1})

    assert reply.status == 202
    assert reply.json == {"id": reply.json["id"], "status": "queued", "created": True, "outcome": "created"}
    job = site.get(f"/v1/jobs/{reply.json['id']}")
    assert job.status == 200
    answers.JobView.model_validate(job.json)
    assert (job.json["payload"], job.json["queue"], job.json["priority"]) == ({"path": "ä.png"}, "images", 1)


def test_a_list_of_jobs_is_stored_in_order(site):
    reply = site.post("/v1/jobs", [{"type": "a"}, {"type": "b"}])

    assert reply.status == 202
    assert [job.type for job in map(site.app.get, (one["id"] for one in reply.json))] == ["a", "b"]


def test_an_empty_list_is_accepted_and_stores_nothing(site):
    reply = site.post("/v1/jobs", [])

    assert (reply.status, reply.json) == (202, [])


def test_a_list_with_one_bad_job_stores_none_and_names_it(site):
    reply = site.post("/v1/jobs", [{"type": "a"}, {"type": "b", "priority": 11}])

    assert (reply.status, reply.json["code"]) == (400, "PRIORITY_OUT_OF_RANGE")
    assert "job 1 of the list" in reply.json["detail"]
    assert site.app.jobs() == []


def test_a_thousand_jobs_are_taken_and_one_more_is_not(site):
    assert site.post("/v1/jobs", [{"type": "a"}] * 1_001).json["code"] == "BAD_OPTION"
    assert len(site.post("/v1/jobs", [{"type": "a"}] * 1_000).json) == 1_000


def test_every_option_of_one_call_is_taken_over_http():
    assert set(shapes.NewJobBody.model_fields) == OPTIONS | {"type", "payload"}


@pytest.mark.parametrize(
    ("option", "value", "field", "stored"),
    [
        ("queue", "images", "queue", "images"),
        ("priority", 2, "priority", 2),
        ("group", "g", "group", "g"),
        ("tenant", "t", "tenant", "t"),
        ("key", "k", "idempotency_key", "k"),
        ("max_attempts", 7, "max_attempts", 7),
        ("scheduled_at", "2031-01-01T00:00:00Z", "scheduled_at", "2031-01-01T00:00:00.000Z"),
        ("context", {"user_id": "u"}, "context", {"user_id": "u"}),
        ("queue", None, "queue", "default"),
    ],
)
def test_an_option_reaches_the_job(site, option, value, field, stored):
    reply = site.post("/v1/jobs", {"type": "a", option: value})

    assert reply.status == 202, reply.body
    assert site.get(f"/v1/jobs/{reply.json['id']}").json[field] == stored


def test_a_repeated_key_answers_the_first_job_and_its_status(site):
    first = site.post("/v1/jobs", {"type": "a", "key": "k"}).json
    site.complete("a")
    again = site.post("/v1/jobs", {"type": "a", "key": "k"})

    answer = {"id": first["id"], "status": "completed", "created": False, "outcome": "duplicate"}
    assert (again.status, again.json) == (202, answer)


def test_a_key_with_another_payload_is_a_conflict(site):
    site.post("/v1/jobs", {"type": "a", "key": "k"})
    reply = site.post("/v1/jobs", {"type": "a", "payload": {"x": 1}, "key": "k"})

    assert (reply.status, reply.json["code"]) == (409, "KEY_CONFLICT")


def test_a_payload_is_checked_against_the_handler_that_is_known_here(site):
    @site.app.job
    def thumbnail(path: str) -> None: ...

    reply = site.post("/v1/jobs", {"type": "thumbnail", "payload": {"path": 5}})

    assert (reply.status, reply.json["code"]) == (400, "PAYLOAD_INVALID")
    assert "path" in reply.json["detail"]


def test_a_full_queue_refuses_and_says_when_to_come_back(tmp_path):
    with running_site(tmp_path, max_depth={"default": 1}) as site:
        assert site.post("/v1/jobs", {"type": "a"}).status == 202
        reply = site.post("/v1/jobs", {"type": "a"})
        assert (reply.status, reply.json["code"], reply.headers["retry-after"]) == (429, "QUEUE_FULL", "5")
        assert site.post("/v1/jobs", {"type": "a", "priority": 1}).status == 202


def test_a_payload_over_its_limit_is_too_large(tmp_path):
    with running_site(tmp_path, payload_limit=100) as site:
        reply = site.post("/v1/jobs", {"type": "a", "payload": {"x": "y" * 200}})
    assert (reply.status, reply.json["code"]) == (413, "PAYLOAD_TOO_LARGE")


def test_jobs_are_listed_newest_first_page_by_page(site):
    ids = [one["id"] for one in site.post("/v1/jobs", [{"type": "a"}] * 5).json]

    first = site.get("/v1/jobs?limit=3").json
    answers.JobPage.model_validate(first)
    second = site.get(f"/v1/jobs?limit=3&before={first['next']}").json

    assert [job["id"] for job in first["items"] + second["items"]] == ids[::-1]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=queued", {"a", "b", "c"}),
        ("status=completed", {"d"}),
        ("type=a", {"a"}),
        ("queue=slow", {"b"}),
        ("group=g", {"b"}),
        ("tenant=t", {"c"}),
        ("tenant=", {"a", "b", "d"}),
        ("type=a&queue=slow", set()),
        ("", {"a", "b", "c", "d"}),
    ],
)
def test_a_listing_is_narrowed(site, query, found):
    site.post(
        "/v1/jobs",
        [{"type": "a"}, {"type": "b", "queue": "slow", "group": "g"}, {"type": "c", "tenant": "t"}, {"type": "d"}],
    )
    site.complete("d")

    reply = site.get(f"/v1/jobs?{query}")

    assert {job["type"] for job in reply.json["items"]} == found


def test_a_summary_leaves_out_what_may_be_large_or_private(site):
    site.post("/v1/jobs", {"type": "a", "payload": {"secret": 1}})

    (job,) = site.get("/v1/jobs?view=summary").json["items"]

    answers.JobSummary.model_validate(job)
    assert "payload" not in job


def test_a_cancel_ends_a_waiting_job(site):
    job_id = site.post("/v1/jobs", {"type": "a"}).json["id"]

    reply = site.post(f"/v1/jobs/{job_id}/cancel")

    assert reply.status == 200
    assert reply.json == {"id": job_id, "changed": True, "left": "queued", "status": "cancelled"}
    answers.Cancelled.model_validate(site.post(f"/v1/jobs/{job_id}/cancel").json)
    assert site.get(f"/v1/jobs/{job_id}/history").json["items"][0]["actor"] == "http"


def test_a_graceful_cancel_lets_a_run_go_on(site):
    job_id = site.post("/v1/jobs", {"type": "a"}).json["id"]
    site.claim("a")

    reply = site.post(f"/v1/jobs/{job_id}/cancel", {"mode": "graceful"})

    assert reply.json["status"] == "in_progress"


def test_a_write_without_a_body_needs_no_content_type(site):
    job_id = site.post("/v1/jobs", {"type": "a"}).json["id"]

    assert site.send("POST", f"/v1/jobs/{job_id}/cancel").status == 200


def test_a_failed_job_is_sent_round_again(site):
    site.post("/v1/jobs", {"type": "a"})
    job_id = site.fail("a", permanent=True)

    reply = site.post(f"/v1/jobs/{job_id}/retry")

    assert (reply.status, reply.json["status"], reply.json["failed"]) == (200, "queued", 0)


def test_a_job_that_did_not_fail_is_not_sent_round_again(site):
    job_id = site.post("/v1/jobs", {"type": "a"}).json["id"]

    reply = site.post(f"/v1/jobs/{job_id}/retry")

    assert (reply.status, reply.json["code"]) == (409, "WRONG_STATUS")


def test_explain_and_history_tell_what_is_going_on(site):
    site.post("/v1/jobs", {"type": "a"})
    job_id = site.fail("a")

    why = site.get(f"/v1/jobs/{job_id}/explain").json
    history = site.get(f"/v1/jobs/{job_id}/history").json

    answers.Explanation.model_validate(why)
    answers.History.model_validate(history)
    assert [reason["code"] for reason in why["reasons"]] == ["NOT_DUE", "NO_WORKER"]
    assert [(line["why"], line["error_class"]) for line in history["items"]] == [("retry", "ValueError")]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "?wait=5"),
        ("POST", "/cancel"),
        ("POST", "/retry"),
        ("GET", "/explain"),
        ("GET", "/history"),
    ],
)
def test_a_job_that_is_not_there_is_not_found(site, method, path):
    reply = site.send(method, f"/v1/jobs/01JHQ8Y3M0G5V7T2K4N6P8R0SD{path}")

    assert (reply.status, reply.json["code"]) == (404, "JOB_NOT_FOUND")


def test_a_job_that_waits_for_others_is_taken_and_shown_with_them(site):
    parent = site.post("/v1/jobs", {"type": "a"}).json["id"]
    child = site.post("/v1/jobs", {"type": "b", "depends_on": [parent], "on_parent": "run"}).json["id"]

    shown = site.get(f"/v1/jobs/{child}").json
    answers.JobShown.model_validate(shown)
    assert shown["parents"] == [{"id": parent, "type": "a", "status": "queued", "waits": True}]
    assert "children" not in shown
    assert [one["id"] for one in site.get(f"/v1/jobs/{parent}").json["children"]] == [child]
    assert site.get(f"/v1/jobs/{child}/explain").json["reasons"][0]["code"] == "BLOCKED"
    assert site.app.get(child).on_parent == "run"


def test_a_parent_that_is_not_there_is_a_mistake_of_the_request(site):
    reply = site.post("/v1/jobs", {"type": "b", "depends_on": ["nobody"]})

    assert (reply.status, reply.json["code"]) == (400, "PARENT_NOT_FOUND")
    assert site.app.jobs() == []
