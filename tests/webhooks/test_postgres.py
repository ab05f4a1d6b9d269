"""The same on PostgreSQL: the body's bytes, the record of attempts, a replay."""

from __future__ import annotations

import pytest

from holdfast import App, Backoff
from holdfast.deliveries import attempts_of
from holdfast.testing import Clock, drain
from holdfast.webhooks import verify
from tests.servers.postgres import server
from tests.webhooks.receiver import OK, status


@pytest.fixture
def app(clock):
    address = server().migrated()
    with App(address, clock=clock) as application:
        yield application
    server().drop(address)


@pytest.fixture
def clock():
    return Clock()


def test_a_delivery_on_postgres_is_retried_recorded_and_replayed(local, receiver, secret, clock):
    receiver.answers = [status(503), status(404), OK]
    app = local(backoff=Backoff(jitter_ms=0))
    handle = app.webhooks.deliver("here", "ping", {"z": 1, "a": [1.5, "é", None], "m": {"y": 1, "b": 2}})
    drain(app, clock=clock)
    assert [one["status"] for one in attempts_of(handle.job())] == [503, 404]
    replayed = app.webhooks.replay(handle.id)
    drain(app)
    assert replayed.status() == "completed"
    assert len({(request.headers["webhook-id"], request.body) for request in receiver.requests}) == 1
    assert b'"data":{"z":1,"a":[1.5,"\xc3\xa9",null],"m":{"y":1,"b":2}}' in receiver.requests[0].body
    for request in receiver.requests:
        verify(request.body, request.headers, secrets=secret)
