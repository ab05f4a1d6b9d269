"""Who receives: endpoints in code and in tables, their secrets, and the ends of jobs they ask for."""

from __future__ import annotations

import subprocess
import sys

import pytest
from standardwebhooks import Webhook

from holdfast import BadInput
from holdfast.deliveries import TYPE
from holdfast.testing import drain
from holdfast.webhooks import Endpoint


def test_a_missing_secret_is_tried_again_and_says_where_it_should_be(local, receiver, monkeypatch, tmp_path):
    monkeypatch.delenv("HOOK_SECRET", raising=False)
    (tmp_path / "empty").touch()
    for reference in ("env:HOOK_SECRET", f"file:{tmp_path}/none", f"file:{tmp_path}/empty"):
        app = local(secrets=[reference])
        handle = app.webhooks.deliver("here", "ping")
        drain(app)
        error = handle.job().error
        assert (handle.status(), error["code"]) == ("queued", "WEBHOOK_SECRET")
        assert reference.partition(":")[2] in error["message"]
    assert receiver.connections == 0


def test_endpoints_can_live_in_the_applications_own_tables(app, receiver, secret):
    asked = []

    @app.webhooks.find
    async def endpoint_of(name, tenant):
        asked.append((name, tenant))
        if tenant == "acme":
            return Endpoint(url=f"http://127.0.0.1:{receiver.port}/", secrets=[secret])
        return None

    app.webhooks.allow(http=True, private=["127.0.0.0/8"], ports=[receiver.port])
    taken = app.webhooks.deliver("orders", "ping", tenant="acme")
    unknown = app.webhooks.deliver("orders", "ping", tenant="other")
    drain(app)
    assert (taken.status(), unknown.status()) == ("completed", "queued")
    assert sorted(asked) == [("orders", "acme"), ("orders", "other")]
    assert unknown.job().error["code"] == "WEBHOOK_ENDPOINT"


@pytest.mark.parametrize(
    "settings",
    [
        {"secrets": []}, {"secrets": ["short"]}, {"secrets": "env:ONE"}, {"secrets": [7]}, {"timeout": 0}, {"timeout": 61}, {"timeout": "9"}, {"backoff": 7},
        {"timeout": True}, {"max_attempts": 0}, {"signature_header": "X: y"}, {"event_header": "Host"}, {"id_header": "webhook-id"},
        {"ends": ["queued"]}, {"ends": "completed"}, {"types": ["\0"]},
    ],
)  # fmt: skip
def test_an_endpoint_that_cannot_be_is_refused(local, settings):
    with pytest.raises(BadInput):
        local(**settings)


@pytest.mark.parametrize(
    "wider", [{"private": ["10.0.0.1/8"]}, {"private": ["all"]}, {"ports": [0]}, {"ports": [70_000]}]
)
def test_rules_that_cannot_be_are_refused(app, wider):
    with pytest.raises(BadInput):
        app.webhooks.allow(**wider)


def test_ends_of_jobs_become_deliveries_of_those_who_asked(local, receiver, secret):
    app = local(ends=["failed", "dead_letter"], types=["charge"])

    @app.job(max_attempts=1)
    def charge(card: str) -> None:
        raise ValueError(f"declined {card}")

    @app.job
    def other() -> None: ...

    ended = [charge.enqueue(card="4111"), other.enqueue()]
    drain(app)
    for handle in ended:
        for _ in range(2):  # storing them twice is safe
            app.store(app.webhooks.endings(handle.job()))
    drain(app)

    (request,) = receiver.requests
    body = Webhook(secret).verify(request.body, request.headers)
    assert body["type"] == "job.dead_letter"
    assert (body["data"]["id"], body["data"]["type"]) == (ended[0].id, "charge")
    assert body["data"]["error"] == {"class": "ValueError", "code": "HANDLER_ERROR"}
    assert "4111" not in request.body.decode()


def test_the_end_of_a_delivery_is_not_delivered(local):
    app = local(ends=["completed", "failed"])
    handle = app.webhooks.deliver("here", "ping")
    assert app.webhooks.endings(handle.job()) == []
    drain(app)
    assert (handle.status(), app.webhooks.endings(handle.job())) == ("completed", [])


def test_a_finder_that_fails_is_asked_again_later(app, clock):
    @app.webhooks.find
    def endpoint_of(name, tenant):
        raise ConnectionError("the table is away")

    handle = app.webhooks.deliver("orders", "ping")
    drain(app)
    assert (handle.status(), handle.job().error["class"]) == ("queued", "ConnectionError")
    assert (handle.job().scheduled_at - clock.now).total_seconds() >= 5


def test_without_the_extra_it_is_told_where_endpoints_are_named(tmp_path):
    program = """
import sys
sys.modules["h11"] = None  # as if it were not installed
import holdfast
app = holdfast.App("sqlite:///x.db")
for name in (lambda: app.webhooks.add("a", "https://a.test", secrets=["env:A"]), lambda: app.webhooks.find(print)):
    try:
        name()
    except holdfast.BadInput as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert run.stdout.count("pip install 'holdfast[webhooks]'") == 2


def test_a_worker_that_does_not_know_an_endpoint_leaves_it_to_others(local, receiver):
    app = local()
    handle = app.enqueue(TYPE, {"endpoint": "elsewhere", "event": "ping", "id": "m1", "body": {}})
    drain(app)
    assert (handle.status(), handle.job().error["code"]) == ("queued", "WEBHOOK_ENDPOINT")
    assert receiver.connections == 0


@pytest.mark.parametrize(
    ("wanted", "of", "heard"),
    [
        ({"ends": ["completed"]}, ("completed", "a", None), True),
        ({"ends": ["completed"]}, ("failed", "a", None), False),
        ({"ends": ["completed"], "types": ["b"]}, ("completed", "a", None), False),
        ({"ends": ["completed"], "groups": ["g"]}, ("completed", "a", None), False),
        ({"ends": ["completed"], "groups": ["g"], "types": ["a"]}, ("completed", "a", "g"), True),
    ],
)
def test_an_endpoint_hears_of_what_it_asked_for(secret, wanted, of, heard):
    assert Endpoint(url="https://x.test", secrets=[secret], **wanted).hears_of(*of) is heard
