"""Who receives: endpoints in code and in tables, and their secrets."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
    assert (
        run.stdout.count('install the extra webhooks, for example by pip install "/path/to/the/clone[webhooks]"') == 2
    )


def test_a_worker_that_does_not_know_an_endpoint_leaves_it_to_others(local, receiver):
    app = local()
    handle = app.enqueue(TYPE, {"endpoint": "elsewhere", "event": "ping", "id": "m1", "body": {}})
    drain(app)
    assert (handle.status(), handle.job().error["code"]) == ("queued", "WEBHOOK_ENDPOINT")
    assert receiver.connections == 0
