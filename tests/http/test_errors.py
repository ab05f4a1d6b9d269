"""One table says what each error of the engine is over HTTP."""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.applications import Starlette

from holdfast.http import problems
from holdfast.http.site import create_http_app
from holdfast.model import errors

MEANINGS = [
    (errors.BadInput("BAD_OPTION", "x"), 400, None),
    (errors.PayloadError("PAYLOAD_INVALID", "x"), 400, None),
    (errors.PayloadError("PAYLOAD_TOO_LARGE", "x"), 413, None),
    (errors.NotFound("JOB_NOT_FOUND", "x"), 404, None),
    (errors.Conflict("WRONG_STATUS", "x"), 409, None),
    (errors.KeyConflict("KEY_CONFLICT", "x"), 409, None),
    (errors.QueueFull("QUEUE_FULL", "x"), 429, "5"),
    (errors.StoreError("STORE_UNAVAILABLE", "x"), 503, "1"),
    (errors.StoreError("STORE_READ_ONLY", "x"), 503, "1"),
    (errors.StoreError("STORE_FULL", "x"), 507, None),
    (errors.HoldfastError("USE_AWAIT", "x"), 500, None),
]


@pytest.mark.parametrize(("error", "status", "retry_after"), MEANINGS, ids=lambda one: getattr(one, "code", None))
def test_an_error_has_its_status_and_its_code(error, status, retry_after):
    response = problems.of_error(error).response()

    content = json.loads(response.body)
    assert response.status_code == content["status"] == status
    assert response.headers.get("retry-after") == retry_after
    assert response.media_type == "application/problem+json"
    assert set(content) >= {"type", "title", "status", "detail", "code"}
    assert content["code"] == (error.code if status != 500 else "INTERNAL_ERROR")


def test_every_class_of_errors_has_a_meaning():
    told = {type(error) for error, _, _ in MEANINGS}
    raised = {
        value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.HoldfastError)
    }
    # What a waiting caller in Python gets, and what a receiver of webhooks does, is never raised in this door.
    elsewhere = {errors.ResultError, errors.JobFailed, errors.JobCancelled, errors.ResultTimeout, errors.BadSignature}
    assert raised - told == elsewhere


def test_the_store_s_own_message_stays_in_the_log(caplog):
    problem = problems.of_error(errors.StoreError("STORE_CANNOT_OPEN", "cannot open /secret/jobs.db"))

    assert "/secret" not in problem.detail
    assert "/secret/jobs.db" in caplog.text


def test_an_unforeseen_error_is_an_id_and_nothing_more(site, monkeypatch, caplog):
    def break_down(*_, **__):
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr(site.app.desk.store, "read", break_down)
    reply = site.get("/v1/stats")

    assert (reply.status, reply.json["code"]) == (500, "INTERNAL_ERROR")
    assert b"hunter2" not in reply.body
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.json["id"] in caplog.text


def test_the_site_can_be_mounted_in_another_application(site):
    whole = Starlette()
    whole.mount("/jobs", create_http_app(site.app))
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request"}

    async def ask(path):
        sent.clear()
        await whole(
            {
                "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "root_path": "",
                "query_string": b"", "scheme": "http", "server": ("127.0.0.1", 80), "headers": [(b"host", b"localhost")],
            },
            receive,
            send,
        )  # fmt: skip
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)

    status, body = asyncio.run(ask("/jobs/"))
    assert status == 200
    assert b'href="/jobs/static/style.css"' in body
    assert b"http://localhost/jobs/v1/jobs" in body
    assert asyncio.run(ask("/jobs/v1/stats"))[0] == 200
