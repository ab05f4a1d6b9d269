"""Whatever a handler does, its run has an ending."""

# A lambda here stands for a verb or handler and takes what it is given.
# ruff: noqa: ARG005

from __future__ import annotations

import asyncio
import math
import re
import sys
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import BaseModel

import holdfast
from holdfast.testing import drain


@pytest.fixture
def run(holdfast_app, holdfast_clock):
    """Run a handler once; the job as it is afterwards."""

    def run_once(function, **settings):
        handle = holdfast_app.job(type="work", **settings)(function).enqueue()
        drain(holdfast_app)
        return handle.job()

    return run_once


@pytest.fixture
def wait_s(holdfast_clock):
    return lambda job: (job.scheduled_at - holdfast_clock.now).total_seconds()


def raising(error, *, coroutine=False):
    def plain():
        raise error

    async def awaited():
        raise error

    return awaited if coroutine else plain


def said(job):
    """Its error without the lines that it came through."""
    return {name: value for name, value in job.error.items() if name != "where"}


both = pytest.mark.parametrize("coroutine", [False, True], ids=["plain", "coroutine"])


@both
def test_a_permanent_error_ends_the_job_at_once(run, coroutine):
    job = run(raising(holdfast.Permanent("no such picture"), coroutine=coroutine))
    assert (job.status, job.attempts, job.failed) == ("failed", 1, 1)
    assert said(job) == {
        "class": "holdfast.Permanent",
        "message": "no such picture",
        "code": "HANDLER_ERROR",
    }


def test_an_error_tells_the_lines_of_the_handler_it_came_through(run):
    def inner(values):
        return values["missing"]

    def outer():
        return inner({})

    job = run(outer)
    lines = [re.sub(r":\d+ in .*<locals>", "", line) for line in job.error["where"]]
    assert lines == [f"{__name__}.outer", f"{__name__}.inner"]


@both
def test_a_permanent_error_on_the_last_attempt_is_failed_and_no_dead_letter(run, coroutine):
    assert run(raising(holdfast.Permanent("no"), coroutine=coroutine), max_attempts=1).status == "failed"


@both
def test_an_ordinary_error_is_tried_again_after_a_back_off(run, wait_s, coroutine):
    job = run(raising(ValueError("bad day"), coroutine=coroutine))
    assert (job.status, job.attempts, job.failed) == ("queued", 1, 1)
    assert said(job) == {"class": "ValueError", "message": "bad day", "code": "HANDLER_ERROR"}
    assert 2 <= wait_s(job) <= 3


def test_the_back_off_can_be_chosen(run, wait_s):
    job = run(raising(ValueError()), backoff=holdfast.Backoff(base_ms=30_000, cap_ms=3_600_000, jitter_ms=0))
    assert wait_s(job) == 60


def test_errors_that_retrying_cannot_cure_can_be_named(run):
    assert run(raising(KeyError("x")), permanent=(LookupError,)).status == "failed"


@both
def test_an_error_on_the_last_attempt_is_a_dead_letter(run, coroutine):
    job = run(raising(ValueError("bad day"), coroutine=coroutine), max_attempts=1)
    assert (job.status, job.failed) == ("dead_letter", 1)


@both
def test_a_retry_comes_when_the_handler_says(run, wait_s, coroutine):
    job = run(raising(holdfast.Retry("busy", after=90), coroutine=coroutine))
    assert (job.status, job.attempts, job.failed, wait_s(job)) == ("queued", 1, 1, 90)


def test_a_retry_without_a_time_takes_the_back_off(run, wait_s):
    assert 2 <= wait_s(run(raising(holdfast.Retry("busy")))) <= 3


def test_a_retry_on_the_last_attempt_is_a_dead_letter(run):
    assert run(raising(holdfast.Retry(after=5)), max_attempts=1).status == "dead_letter"


@both
def test_a_snooze_spends_no_attempt(run, wait_s, coroutine):
    job = run(raising(holdfast.Snooze(300), coroutine=coroutine), max_attempts=1)
    assert (job.status, job.attempts, job.failed, job.error, wait_s(job)) == ("queued", 0, 0, None, 300)


@pytest.mark.parametrize("error", [holdfast.Snooze(timedelta(minutes=5)), holdfast.Retry(after=timedelta(minutes=5))])
def test_a_time_may_be_a_timedelta(run, wait_s, error):
    assert wait_s(run(raising(error))) == 300


@pytest.mark.parametrize("seconds", ["5", None, object, -1, math.nan])
def test_what_is_no_time_is_told_so(seconds):
    with pytest.raises(ValueError, match="a number of seconds from 0 up is needed"):
        holdfast.Snooze(seconds)


@pytest.mark.parametrize("seconds", [-1, math.inf, math.nan, "soon", None, timedelta(minutes=5)], ids=repr)
@pytest.mark.parametrize("signal", ["Snooze", "Retry"])
def test_an_impossible_time_still_ends_the_run(run, signal, seconds):
    def handler():
        raise holdfast.Snooze(seconds) if signal == "Snooze" else holdfast.Retry(after=seconds)

    assert run(handler).status == "queued"


def test_a_coroutine_that_runs_past_its_time_out_counts_as_failed(run):
    async def slow():
        await asyncio.Event().wait()

    job = run(slow, timeout=0.05)
    assert (job.status, job.failed, job.error["code"]) == ("queued", 1, "TIMEOUT")
    assert job.error["message"] == "ran longer than its time-out of 0.05 s"
    assert job.error["where"][0].endswith("<locals>.slow")
    assert job.error["where"][-1].startswith("asyncio.")


def test_an_item_that_runs_past_its_time_out_tells_where_it_stood(holdfast_app):
    @holdfast_app.job(timeout=0.05, max_attempts=1)
    async def slow(n: int):
        await asyncio.Event().wait()

    batch = holdfast_app.map(slow, [{"n": 1}])
    drain(holdfast_app)
    ((_, _, error),) = batch.errors()
    assert error["message"] == "ran longer than its time-out of 0.05 s"
    assert error["where"][0].endswith("<locals>.slow")


def test_the_time_out_of_one_call_beats_the_handler_s(holdfast_app):
    async def slow():
        await asyncio.Event().wait()

    handle = holdfast_app.job(slow).using(timeout=0.05, max_attempts=1).enqueue()
    drain(holdfast_app)
    assert (handle.status(), handle.job().error["code"]) == ("dead_letter", "TIMEOUT")


@both
def test_a_handler_s_own_timeout_error_is_an_ordinary_error(run, coroutine):
    job = run(raising(TimeoutError("the peer is slow"), coroutine=coroutine))
    assert said(job) == {"class": "TimeoutError", "message": "the peer is slow", "code": "HANDLER_ERROR"}


@both
@pytest.mark.parametrize("error", [SystemExit(3), StopIteration("empty"), GeneratorExit()], ids=repr)
def test_errors_that_stop_programs_do_not_stop_the_worker(run, error, coroutine):
    job = run(raising(error, coroutine=coroutine))
    assert (job.status, job.failed) == ("queued", 1)


def test_a_handler_that_exits_is_an_ordinary_failure(run):
    assert run(lambda: sys.exit("no configuration")).error["class"] == "SystemExit"


def test_a_coroutine_that_cancels_itself_is_an_ordinary_failure(run):
    async def tangled():
        task = asyncio.ensure_future(asyncio.Event().wait())
        await asyncio.sleep(0)
        task.cancel()
        await task

    job = run(tangled)
    assert (job.status, job.failed) == ("queued", 1)


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class WithCode(Exception):
    code = "CARD_DECLINED"


class WithOddCode(Exception):
    def code(self):
        return 14


class WithNumber(Exception):
    code = 404


@pytest.mark.parametrize(
    ("error", "code"),
    [(Unprintable(), "HANDLER_ERROR"), (WithCode(), "CARD_DECLINED"), (WithOddCode(), "HANDLER_ERROR"),
     (WithNumber(), "HANDLER_ERROR"), (ExceptionGroup("two", [ValueError(), KeyError()]), "HANDLER_ERROR")],
    ids=["unprintable", "with a code", "whose code is a method", "whose code is a number", "a group"],
)  # fmt: skip
def test_any_error_object_can_be_kept(run, error, code):
    assert run(raising(error)).error["code"] == code


def test_an_error_s_secrets_are_not_kept(run):
    job = run(raising(ConnectionError("postgresql://app:hunter2@db/x refused, token=abcdef")))
    assert "hunter2" not in job.error["message"]
    assert "abcdef" not in job.error["message"]


class Size(BaseModel):
    width: int


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (None, None),
        ({"a": [1, 2.5, None, True]}, {"a": [1, 2.5, None, True]}),
        ("text \x00 \N{PILE OF POO}", "text \x00 \N{PILE OF POO}"),
        ("NaN", "NaN"),
        (0, 0),
        ([], []),
        (Size(width=3), {"width": 3}),
        (datetime(2025, 1, 16, tzinfo=UTC), "2025-01-16T00:00:00Z"),
        ((1, 2), [1, 2]),
        (b"text", "text"),
    ],
    ids=repr,
)
def test_a_result_is_kept(run, value, stored):
    job = run(lambda: value)
    assert (job.status, job.result) == ("completed", stored)


def circular():
    value = []
    value.append(value)
    return value


@both
@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        [math.inf],
        object(),
        lambda: None,
        b"\xff",
        "\ud800",
        circular(),
        "x" * 300_000,
        10**5_000,
        {1: 1, "1": 2},
    ],
    ids=["nan", "inf", "object", "function", "bytes", "surrogate", "circular", "large", "huge", "two keys become one"],
)
def test_a_result_that_cannot_be_stored_ends_the_job_as_failed(run, value, coroutine):
    async def awaited():
        return value

    job = run(awaited if coroutine else lambda: value)
    assert (job.status, job.error["code"]) == ("failed", "RESULT_UNSTORABLE")
    assert job.attempts == 1


def test_a_plain_function_that_gives_a_coroutine_is_awaited(run):
    async def real():
        return "done"

    def wrapper():
        return real()

    assert run(wrapper).result == "done"


def test_a_stored_payload_that_no_longer_fits_ends_the_job_as_failed(holdfast_app):
    handle = holdfast_app.enqueue("work", {"old": 1})
    holdfast_app.job(type="work")(lambda new: None)
    drain(holdfast_app)
    job = handle.job()
    assert (job.status, job.error["code"]) == ("failed", "PAYLOAD_INVALID")
    assert "new: Field required" in job.error["message"]


def test_an_error_raised_while_waiting_for_a_person_is_not_lost(run):
    job = run(raising(holdfast.AwaitAuth("log in first", "https://example.org")))
    assert job.status in {"failed", "awaiting_auth"}
    assert job.error is None or "log in first" in job.error["message"]
