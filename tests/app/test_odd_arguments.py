"""Odd arguments of the public names are refused with a code and what to do, never with an error from the depths."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import holdfast


def add(a: int, b: int) -> int:
    return a + b


class Thing:
    pass


ODD = {
    "get": (lambda app: app.get(None), "a job's id is text, such as handle.id, not None"),
    "get a handle": (lambda app: app.get(app.enqueue("tick")), "a job's id is text"),
    "cancel": (lambda app: app.cancel(5), "a job's id is text"),
    "retry": (lambda app: app.retry(b"x"), "a job's id is text"),
    "explain": (lambda app: app.explain(None), "a job's id is text"),
    "jobs limit": (lambda app: app.jobs(limit="5"), "limit is a whole number from 1 to 1000, not '5'"),
    "jobs before": (lambda app: app.jobs(before=5), "before is text, not 5"),
    "jobs status": (lambda app: app.jobs(status=5), "status is text, not 5"),
    "many numbers": (lambda app: app.enqueue_many([1]), "a call is made by a handler"),
    "many handlers": (lambda app: app.enqueue_many([app.job(add)]), "a call is made by a handler"),
    "many of nothing": (lambda app: app.enqueue_many(5), "enqueue_many takes a list of calls, not 5"),
    "unhashable type": (lambda app: (app.job(add), app.enqueue(["tick"])), "type must be text, not list"),
    "result text": (lambda app: app.enqueue("tick").result(timeout="1"), "timeout is a number of seconds"),
    "result truth": (lambda app: app.enqueue("tick").result(timeout=True), "timeout is a number of seconds"),
    "result span": (lambda app: app.enqueue("tick").result(timeout=timedelta(1)), "timeout is a number of seconds"),
    "url": (lambda _: holdfast.App(5), "the store's address is text, not int"),
    "url zero": (lambda _: holdfast.App(0), "the store's address is text, not int"),
    "url path": (lambda _: holdfast.App(Path("jobs.db")), "the store's address is text, not PosixPath"),
    "imports": (lambda _: holdfast.App(imports="mysite.jobs"), "imports is a list of modules"),
    "imports number": (lambda _: holdfast.App(imports=[5]), "imports is a list of modules"),
    "payload limit": (lambda _: holdfast.App(payload_limit="1"), "payload_limit is a whole number"),
    "max depth": (lambda _: holdfast.App(max_depth=5), "max_depth goes by queue"),
    "max depth text": (lambda _: holdfast.App(max_depth={"a": "b"}), "max_depth is a whole number"),
    "lease": (lambda app: app.job(lease=0)(add), "lease must be more than 0 s"),
    "lease text": (lambda app: app.job(lease="1")(add), "lease is a number of seconds or a timedelta, not str"),
    "every": (lambda app: app.sweeper(every=0)(add), "every must be more than 0 s"),
    "class": (lambda app: app.job(Thing), "goes on a function, not on the class Thing: register a function"),
    "name": (lambda app: app.job("tick"), "goes on a function, not on a str: options are named"),
    "sweeper": (lambda app: app.sweeper(5), "@app.sweeper goes on a function, not on a int"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_argument_is_refused_with_what_to_do(app, name):
    call, told = ODD[name]
    with pytest.raises(holdfast.BadInput) as caught:
        call(app)
    assert told in str(caught.value)
    assert caught.value.code in ("BAD_OPTION", "BAD_NAME", "BAD_URL")


async def test_an_odd_call_is_refused_in_a_coroutine_too(app):
    with pytest.raises(holdfast.BadInput, match="a call is made by a handler"):
        await app.aenqueue_many([1])


@pytest.mark.parametrize("job_id", ["", "x", "\ud800", "é", "\x00"])
def test_an_id_that_no_job_can_have_is_not_found(app, job_id):
    with pytest.raises(holdfast.NotFound) as caught:
        app.get(job_id)
    str(caught.value).encode()


def test_a_wait_that_is_over_tells_how_the_job_stands(app, clock):
    @app.job(max_attempts=2)
    def flaky() -> None:
        raise ConnectionError("nobody at home")

    handle = flaky.enqueue()
    with pytest.raises(holdfast.ResultTimeout, match=r"within 0 s: it is queued; `holdfast job explain "):
        handle.result(timeout=0)
    from holdfast.testing import drain

    drain(app)
    with pytest.raises(
        holdfast.ResultTimeout, match=r"it is queued; its last error was ConnectionError: nobody at home"
    ):
        handle.result(timeout=0)
