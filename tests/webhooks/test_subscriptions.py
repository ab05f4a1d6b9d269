"""Ends of jobs are told to those who asked, in the transaction that ends the job."""

from __future__ import annotations

import pytest
from standardwebhooks import Webhook

from holdfast import BadInput
from holdfast.deliveries import TYPE
from holdfast.engine import jobs
from holdfast.testing import drain


def deliveries(app):
    return [job for job in app.jobs(limit=1000) if job.type == TYPE]


@pytest.fixture
def charge(app):
    @app.job(max_attempts=1)
    def charge(card: str = "4111", *, declined: bool = True) -> dict[str, str]:
        if declined:
            raise ValueError(f"declined {card}")
        return {"receipt": "r1"}

    return charge


def test_an_end_that_somebody_asked_for_is_delivered_once(local, receiver, secret):
    app = local()

    @app.job(max_attempts=1)
    def charge(card: str) -> None:
        raise ValueError(f"declined {card}")

    @app.job
    def other() -> None: ...

    app.webhooks.subscribe("ops", "here", ends=["failed", "dead_letter"], types=["charge"])
    ended = [charge.enqueue(card="4111"), other.enqueue()]
    drain(app)

    (request,) = receiver.requests
    body = Webhook(secret).verify(request.body, request.headers)
    assert body["type"] == "job.dead_letter"
    assert (body["data"]["id"], body["data"]["type"]) == (ended[0].id, "charge")
    assert body["data"]["error"] == {"class": "ValueError", "code": "HANDLER_ERROR"}
    assert body["timestamp"] == body["data"]["completed_at"]
    assert "result" not in body["data"]
    assert "4111" not in request.body.decode()


def test_a_result_is_told_only_to_those_who_ask_for_it(app, charge):
    app.webhooks.subscribe("all", "here", ends=["completed"], with_result=True)
    app.webhooks.subscribe("less", "there", ends=["completed"])
    charge.enqueue(declined=False)
    drain(app)
    told = {job.payload["endpoint"]: job.payload["body"]["data"].get("result") for job in deliveries(app)}
    assert told == {"here": {"receipt": "r1"}, "there": None}


def test_a_cancel_is_an_end_too(app, charge):
    app.webhooks.subscribe("ops", "here", ends=["cancelled"])
    handle = charge.using(group="g", tenant="acme").enqueue()
    handle.cancel()
    (told,) = deliveries(app)
    assert (told.payload["event"], told.group, told.tenant) == ("job.cancelled", None, "acme")
    assert told.payload["body"]["data"]["id"] == handle.id


def test_what_is_sent_round_again_is_told_of_again(app, charge):
    app.webhooks.subscribe("ops", "here", ends=["dead_letter"])
    handle = charge.enqueue()
    drain(app)
    app.retry(handle.id)
    drain(app)
    ids = [job.payload["id"] for job in deliveries(app)]
    assert len(set(ids)) == 2
    assert all(handle.id in name for name in ids)


def test_the_end_of_a_delivery_is_told_to_nobody(local):
    app = local()
    app.webhooks.subscribe("ops", "here", ends=["completed", "failed", "dead_letter", "cancelled"])
    first = app.webhooks.deliver("here", "ping")
    drain(app)
    assert first.status() == "completed"
    assert [job.id for job in deliveries(app)] == [first.id]


def test_a_transaction_that_is_undone_tells_nobody(app, charge):
    app.webhooks.subscribe("ops", "here", ends=["cancelled"])
    handle = charge.enqueue()

    def undone():
        with app.transaction() as tx:
            jobs.cancel(tx, handle.id)
            assert [job.type for job in tx.list_jobs({}, "~", 10)[0]] == [TYPE, "charge"]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    assert (handle.status(), deliveries(app)) == ("queued", [])


def test_nobody_is_told_after_unsubscribing(app, charge):
    app.webhooks.subscribe("ops", "here", ends=["cancelled"])
    assert app.webhooks.unsubscribe("ops")
    assert not app.webhooks.unsubscribe("ops")
    charge.enqueue().cancel()
    assert deliveries(app) == []


def test_the_same_name_is_changed(app):
    app.webhooks.subscribe("ops", "here", ends=["cancelled"])
    app.webhooks.subscribe("ops", "there", ends=["failed"], queues=["mail"], max_attempts=2)
    (one,) = app.webhooks.subscriptions()
    assert one.as_json() == {
        "name": "ops", "endpoint": "there", "ends": ["failed"], "types": [], "queues": ["mail"], "groups": [],
        "tenant": None, "with_result": False, "max_attempts": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("narrowed", "heard"),
    [
        ({}, True),
        ({"types": ["charge"]}, True),
        ({"types": ["other", "charge"]}, True),
        ({"types": ["other"]}, False),
        ({"queues": ["default"]}, True),
        ({"queues": ["mail"]}, False),
        ({"groups": ["g"]}, True),
        ({"groups": ["h"]}, False),
        ({"tenant": "acme"}, True),
        ({"tenant": ""}, False),
        ({"tenant": "acme", "groups": ["g"], "queues": ["default"], "types": ["charge"]}, True),
    ],
)
def test_only_what_fits_is_told(app, charge, narrowed, heard):
    app.webhooks.subscribe("ops", "here", ends=["cancelled"], **narrowed)
    charge.using(group="g", tenant="acme").enqueue().cancel()
    assert bool(deliveries(app)) is heard


@pytest.mark.parametrize(
    "wrong",
    [
        {"ends": []}, {"ends": ["queued"]}, {"ends": "completed"}, {"ends": [7]}, {"ends": 7}, {"ends": ["failed"], "types": ["\0"]},
        {"ends": ["failed"], "types": "charge"}, {"ends": ["failed"], "tenant": 7}, {"ends": ["failed"], "colour": 1},
        {"ends": ["failed"], "types": [f"t{n}" for n in range(101)]}, {"ends": ["failed"], "max_attempts": 0},
    ],
)  # fmt: skip
def test_a_subscription_that_cannot_be_is_refused(app, wrong):
    with pytest.raises(BadInput):
        app.webhooks.subscribe("ops", "here", **wrong)
