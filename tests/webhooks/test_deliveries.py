"""A delivery is a job: signed, retried, recorded, and sent again when a person says so."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from time import time

import pytest
from standardwebhooks import Webhook

from holdfast import Backoff, BadInput, Conflict, KeyConflict
from holdfast.deliveries import QUEUE, TYPE, attempts_of
from holdfast.testing import drain
from holdfast.webhooks import new_secret, verify
from tests.webhooks.receiver import OK, status, verify_signature

MOMENT = datetime(2026, 1, 16, 12, tzinfo=UTC)


def test_a_delivery_is_signed_and_taken(local, receiver, secret):
    app = local("/hook?of=billing")
    handle = app.webhooks.deliver("here", "invoice.paid", {"invoice": 17, "name": "Zoë"})
    drain(app)

    job, (request,) = handle.job(), receiver.requests
    assert (job.type, job.queue, job.status) == (TYPE, QUEUE, "completed")
    assert request.line == "POST /hook?of=billing HTTP/1.1"
    assert (request.headers["content-type"], request.headers["accept-encoding"]) == ("application/json", "identity")
    assert request.headers["user-agent"].startswith("Holdfast/")
    body = Webhook(secret).verify(request.body, request.headers)
    assert (body["type"], body["data"]) == ("invoice.paid", {"invoice": 17, "name": "Zoë"})
    assert verify(request.body, request.headers, secrets=secret).id == job.payload["id"] == job.result["id"]
    assert abs(int(request.headers["webhook-timestamp"]) - time()) < 10
    assert "x-hub-signature-256" not in request.headers


def test_a_receiver_with_a_style_of_its_own_gets_its_headers_beside(local, receiver, secret):
    app = local(signature_header="X-BPC-Signature", event_header="X-BPC-Event-Type", id_header="X-BPC-Delivery-Id")
    body = {
        "event_type": "passport.version.signed",
        "event_id": "e1",
        "occurred_at": "2026-01-16T12:00:00Z",
        "data": {},
    }
    app.webhooks.deliver("here", "passport.version.signed", body=body, id="e1")
    drain(app)

    (request,) = receiver.requests
    assert json.loads(request.body) == body
    assert verify_signature(secret, request.body, request.headers["x-bpc-signature"])
    assert request.headers["x-bpc-event-type"] == "passport.version.signed"
    assert request.headers["x-bpc-delivery-id"] == request.headers["webhook-id"] == "e1"
    Webhook(secret).verify(request.body, request.headers)


def test_every_attempt_has_the_same_id_and_body_and_a_fresh_signature(local, receiver, secret, clock):
    receiver.answers = [status(500), status(429), OK]
    app = local()
    handle = app.webhooks.deliver("here", "ping", {"n": 1})
    drain(app, clock=clock)

    assert handle.status() == "completed"
    assert len({(request.headers["webhook-id"], request.body) for request in receiver.requests}) == 1
    for request in receiver.requests:
        verify(request.body, request.headers, secrets=secret)


def test_every_attempt_is_recorded(local, receiver, clock):
    receiver.answers = [status(503), lambda connection: connection.close(), OK]
    app = local()
    handle = app.webhooks.deliver("here", "ping")
    drain(app, clock=clock)

    first, second, third = attempts_of(handle.job())
    assert (first["attempt"], first["status"], first["bytes"]) == (1, 503, 0)
    assert (second["attempt"], second["error"]) == (2, "protocol")
    assert (third["attempt"], third["status"], third["bytes"]) == (3, 200, 2)
    assert all(0 <= one["seconds"] < 10 and one["at"].endswith("Z") for one in (first, second, third))
    assert [line["why"] for line in app.desk.read(lambda tx: tx.history(handle.id))] == ["retry", "retry"]


def test_the_record_of_attempts_is_bounded(local, receiver, clock):
    receiver.answers = [status(500)]
    app = local(max_attempts=60, backoff=Backoff(base_ms=1, cap_ms=10, jitter_ms=0))
    handle = app.webhooks.deliver("here", "ping")
    drain(app, clock=clock)
    made = attempts_of(handle.job())
    assert (handle.status(), len(receiver.requests)) == ("dead_letter", 60)
    assert [made[0]["attempt"], made[-1]["attempt"]] == [11, 60]


@pytest.mark.parametrize("code", [200, 201, 202, 204, 206, 299])
def test_success_is_any_answer_of_the_two_hundreds(local, receiver, code):
    receiver.answers = [status(code)]
    app = local()
    handle = app.webhooks.deliver("here", "ping")
    drain(app)
    assert (handle.status(), handle.job().result["status"]) == ("completed", code)


@pytest.mark.parametrize("code", [408, 425, 429, 500, 501, 502, 503, 504, 599])
def test_what_may_pass_is_tried_again(local, receiver, code):
    receiver.answers = [status(code)]
    app = local()
    handle = app.webhooks.deliver("here", "ping")
    drain(app)
    assert (handle.status(), handle.job().error["code"]) == ("queued", "WEBHOOK_ANSWER")


@pytest.mark.parametrize("code", [300, 302, 400, 401, 403, 404, 405, 409, 410, 413, 422, 451])
def test_what_no_retry_cures_fails_at_once(local, receiver, code):
    receiver.answers = [status(code)]
    app = local()
    handle = app.webhooks.deliver("here", "ping")
    drain(app)
    job = handle.job()
    assert (job.status, job.attempts, job.error["code"]) == ("failed", 1, "WEBHOOK_ANSWER")
    assert str(code) in job.error["message"]


def test_a_receiver_that_is_gone_is_named_so(local, receiver):
    receiver.answers = [status(410)]
    app = local()
    handle = app.webhooks.deliver("here", "ping")
    drain(app)
    assert "gone for good" in handle.job().error["message"]


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("120", 120, 120), ("5", 5, 6.1), ("0", 5, 6.1), ("soon", 5, 6.1), ("-5", 5, 6.1), ("99999999999999", 86400, 86400),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 5, 6.1), ("Fri, 31 Dec 9999 23:59:59 GMT", 86400, 86400), ("", 5, 6.1),
    ],
)  # fmt: skip
def test_a_receiver_may_ask_for_time(local, receiver, clock, *, header, least, most):
    receiver.answers = [status(503, f"Retry-After: {header}")]
    app = local()
    handle = app.webhooks.deliver("here", "ping")
    drain(app)
    assert least <= (handle.job().scheduled_at - clock.now).total_seconds() <= most


def test_a_receiver_may_ask_for_time_by_a_date(local, receiver, clock):
    later = datetime.fromtimestamp(time() + 600, timezone(timedelta(hours=2)))
    receiver.answers = [status(429, f"Retry-After: {later.strftime('%a, %d %b %Y %H:%M:%S %z')}")]
    app = local()
    handle = app.webhooks.deliver("here", "ping")
    drain(app)
    assert 580 <= (handle.job().scheduled_at - clock.now).total_seconds() <= 600


def test_the_pauses_grow_and_a_receiver_may_be_away_for_a_day(local, receiver, clock):
    receiver.answers = [status(500)]
    app = local()
    began = clock.now
    handle = app.webhooks.deliver("here", "ping")
    drain(app, clock=clock)
    assert (handle.status(), handle.job().attempts) == ("dead_letter", 16)
    assert timedelta(hours=20) < clock.now - began < timedelta(hours=28)


def test_an_endpoint_settles_its_own_attempts_and_pauses(local, receiver, clock):
    receiver.answers = [status(500)]
    app = local(max_attempts=5, backoff=Backoff(jitter_ms=0))
    began = clock.now
    handle = app.webhooks.deliver("here", "ping")
    drain(app, clock=clock)
    assert (handle.status(), handle.job().attempts) == ("dead_letter", 5)
    assert clock.now - began == timedelta(seconds=2 + 4 + 8 + 16)


def test_a_changed_secret_counts_from_the_next_attempt_on(local, receiver, clock, monkeypatch, tmp_path):
    old, new = new_secret(), new_secret()
    monkeypatch.setenv("HOOK_SECRET", old)
    (tmp_path / "secret").write_text(f"{old}\n")
    receiver.answers = [status(500), status(500), OK]
    app = local(secrets=["env:HOOK_SECRET", f"file:{tmp_path / 'secret'}"], signature_header="X-Signature")
    app.webhooks.deliver("here", "ping")
    drain(app)
    monkeypatch.setenv("HOOK_SECRET", f"{new} {old}")
    clock.advance(60)
    drain(app)
    monkeypatch.setenv("HOOK_SECRET", new)
    (tmp_path / "secret").write_text(new)
    drain(app, clock=clock)

    before, during, after = receiver.requests
    verify(before.body, before.headers, secrets=old)
    for secret in (old, new):
        verify(during.body, during.headers, secrets=secret)
    assert [len(one.headers["webhook-signature"].split(" ")) for one in (before, during, after)] == [2, 3, 2]
    with pytest.raises(BadInput):
        verify(after.body, after.headers, secrets=old)
    assert verify_signature(new, during.body, during.headers["x-signature"])  # room for one: the newest


def test_neither_secret_nor_address_is_stored_or_logged(local, receiver, secret, clock, caplog):
    caplog.set_level(0)
    receiver.answers = [status(500), status(404)]
    app = local("/a-token-in-the-path?key=another-token", secrets=[secret], event_header="X-Event")
    handle = app.webhooks.deliver("here", "ping", {"n": 1})
    drain(app, clock=clock)
    assert handle.status() == "failed"

    app.desk.write(lambda tx: tx.note(handle.id, from_status="failed", why="x"))
    with app.transaction() as tx:
        text = "".join(
            str(row) for table in ("job_queue", "job_history") for row in tx.execute(f"select * from {table}")
        )
    assert handle.id in text
    told = text + caplog.text + repr(app.webhooks._endpoints["here"])
    for canary in (secret, secret.removeprefix("whsec_"), "a-token-in-the-path", "another-token"):
        assert canary not in told


def test_an_event_with_an_id_is_delivered_once(local, receiver):
    app = local()
    first = app.webhooks.deliver("here", "invoice.paid", {"n": 1}, id="evt_1", occurred_at=MOMENT)
    again = app.webhooks.deliver("here", "invoice.paid", {"n": 1}, id="evt_1", occurred_at=MOMENT)
    drain(app)
    assert (first.created, again.created, first.id == again.id) == (True, False, True)
    assert len(receiver.requests) == 1
    assert json.loads(receiver.requests[0].body)["timestamp"] == "2026-01-16T12:00:00.000Z"
    with pytest.raises(KeyConflict):
        app.webhooks.deliver("here", "invoice.paid", {"n": 2}, id="evt_1", occurred_at=MOMENT)


def test_a_replay_is_a_new_job_with_the_same_id_and_body(local, receiver):
    receiver.answers = [status(404), OK]
    app = local()
    handle = app.webhooks.deliver(
        "here", "ping", {"n": 1}, group="order-7", tenant="acme", priority=8, context={"user_id": "u"}
    )
    drain(app)
    replayed = app.webhooks.replay(handle.id)
    drain(app)

    job = replayed.job()
    assert (handle.status(), job.status, replayed.id != handle.id) == ("failed", "completed", True)
    assert (job.group, job.tenant, job.priority, job.context) == ("order-7", "acme", 8, handle.job().context)
    first, second = receiver.requests
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])


def test_only_a_delivery_that_has_ended_is_replayed(local):
    app = local()
    waiting = app.webhooks.deliver("here", "ping")
    with pytest.raises(Conflict, match="has not ended"):
        app.webhooks.replay(waiting.id)
    with pytest.raises(BadInput, match="not a delivery"):
        app.webhooks.replay(app.enqueue("other").id)


@pytest.mark.parametrize("change", [{"id": "a.b"}, {"event": "a\r\nX: y"}, {"id": "x" * 101}, {"event": ""}])
def test_a_delivery_enqueued_past_the_checks_is_checked_before_it_is_sent(local, receiver, change):
    app = local()
    payload = {"endpoint": "here", "event": "ping", "id": "m1", "body": {}} | change
    handle = app.enqueue(TYPE, payload)
    drain(app)
    assert (handle.status(), receiver.connections) == ("failed", 0)


@pytest.mark.parametrize(
    "call",
    [
        {"endpoint": "nobody"},
        {"endpoint": ["here"]},
        {"event": "with space"},
        {"event": 7},
        {"id": "with.stop", "occurred_at": MOMENT},
        {"id": "x"},
        {"occurred_at": MOMENT.replace(tzinfo=None)},
        {"occurred_at": "2026-01-16"},
        {"data": 1, "body": {}},
        {"data": object()},
        {"data": "x" * 300_000},
        {"no_such_option": 1},
    ],
)
def test_a_delivery_that_cannot_be_is_refused_where_it_is_asked_for(local, call):
    app = local()
    with pytest.raises(BadInput):
        app.webhooks.deliver(**{"endpoint": "here", "event": "ping"} | call)
    assert app.jobs() == []


def test_a_delivery_joins_the_callers_transaction(local, receiver):
    app = local()
    with suppress(ZeroDivisionError), app.transaction():
        app.webhooks.deliver("here", "ping")
        raise ZeroDivisionError
    assert app.jobs() == []
    with app.transaction():
        app.webhooks.deliver("here", "ping")
    drain(app)
    assert len(receiver.requests) == 1


async def test_a_worker_delivers_many_at_once(local, receiver, secret):
    app = local()
    handles = [await app.webhooks.adeliver("here", "ping", {"n": n}) for n in range(20)]
    async with app.worker():
        for handle in handles:
            assert (await handle.aresult(timeout=20))["status"] == 200
    assert {json.loads(request.body)["data"]["n"] for request in receiver.requests} == set(range(20))
