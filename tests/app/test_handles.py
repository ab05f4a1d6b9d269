"""A handle: what became of the job, and waiting for it."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic

import pytest

import holdfast
from holdfast.testing import drain

LONG = 30


def refuse(path: str):
    raise holdfast.Permanent("no such picture")


def test_a_handle_knows_its_job(app, thumbnail):
    handle = thumbnail.enqueue(path="a")
    assert (handle.created, handle.status(), handle.job().id) == (True, "queued", handle.id)
    assert repr(handle) == f"<Handle {handle.id}>"


def test_a_handle_can_be_had_by_id(app, thumbnail):
    handle = thumbnail.enqueue(path="a")
    again = app.handle(handle.id)
    assert (again.id, again.created, again.status()) == (handle.id, False, "queued")


def test_a_handle_of_nothing_is_not_found_when_it_is_asked(app):
    with pytest.raises(holdfast.NotFound):
        app.handle("01ARZ3NDEKTSV4RRFFQ69G5FAV").status()


def test_the_result_is_what_the_handler_returned(app, thumbnail):
    handle = thumbnail.enqueue(path="a")
    drain(app)
    assert handle.result(timeout=0) == {"path": "a", "width": 200}


async def test_the_result_can_be_awaited(app, thumbnail):
    handle = await thumbnail.aenqueue(path="a")
    await asyncio.to_thread(drain, app)
    assert await handle.aresult(timeout=0) == {"path": "a", "width": 200}


def test_the_result_of_a_failed_job_is_an_error_that_tells_why(app):
    handle = app.job(refuse).enqueue(path="a")
    drain(app)
    with pytest.raises(holdfast.JobFailed, match=r"ended failed: .*Permanent: no such picture") as caught:
        handle.result(timeout=0)
    assert caught.value.code == "JOB_FAILED"
    assert handle.id in str(caught.value)


def test_the_result_of_a_dead_letter_is_an_error_too(app):
    handle = app.job(max_attempts=1)(lambda: 1 / 0).enqueue()
    drain(app)
    with pytest.raises(holdfast.JobFailed, match="ended dead_letter: ZeroDivisionError: division by zero"):
        handle.result(timeout=0)


def test_the_result_of_a_cancelled_job_is_an_error_of_its_own(app, thumbnail):
    handle = thumbnail.enqueue(path="a")
    assert handle.cancel()["status"] == "cancelled"
    with pytest.raises(holdfast.JobCancelled, match="ended cancelled") as caught:
        handle.result(timeout=0)
    assert caught.value.code == "JOB_CANCELLED"


@pytest.mark.parametrize("timeout", [0, 0.05, -1])
def test_a_result_that_takes_too_long_is_an_error_that_says_what_to_do(app, thumbnail, timeout):
    handle = thumbnail.enqueue(path="a")
    with pytest.raises(holdfast.ResultTimeout, match="explain") as caught:
        handle.result(timeout=timeout)
    assert caught.value.code == "RESULT_TIMEOUT"


async def test_awaiting_a_result_too_long_is_the_same_error(app, thumbnail):
    handle = await thumbnail.aenqueue(path="a")
    for timeout in (0, 0.05):
        with pytest.raises(holdfast.ResultTimeout):
            await handle.aresult(timeout=timeout)


async def test_a_blocking_wait_inside_an_event_loop_is_refused(app, thumbnail):
    handle = await thumbnail.aenqueue(path="a")
    with pytest.raises(holdfast.HoldfastError, match=r"await handle.aresult") as caught:
        handle.result(timeout=0)
    assert caught.value.code == "USE_AWAIT"


def test_a_waiting_thread_is_woken_when_another_finishes_the_job(app, thumbnail, in_thread):
    handle = thumbnail.enqueue(path="a")
    waits = threading.Event()
    got = {}

    def wait():
        waits.set()
        got["result"] = handle.result(timeout=LONG)
        got["at"] = monotonic()

    waiter = in_thread(wait)
    assert waits.wait(LONG)
    drain(app)
    finished = monotonic()
    waiter.join(LONG)
    assert got["result"] == {"path": "a", "width": 200}
    assert got["at"] - finished < 5


async def test_a_waiting_coroutine_is_woken_when_a_thread_finishes_the_job(app, thumbnail):
    handle = await thumbnail.aenqueue(path="a")
    waiting = asyncio.ensure_future(handle.aresult(timeout=LONG))
    await asyncio.sleep(0)
    await asyncio.to_thread(drain, app)
    assert await waiting == {"path": "a", "width": 200}


async def test_many_coroutines_wait_for_many_jobs(app, thumbnail):
    handles = await app.aenqueue_many(thumbnail.call(path=str(n)) for n in range(50))
    waiting = [asyncio.ensure_future(handle.aresult(timeout=LONG)) for handle in handles]
    await asyncio.to_thread(drain, app)
    assert [result["path"] for result in await asyncio.gather(*waiting)] == [str(n) for n in range(50)]


def test_a_waiter_outlasts_a_retry(app, clock, in_thread):
    runs = []

    @app.job
    def flaky():
        runs.append(1)
        if len(runs) < 3:
            raise ConnectionError
        return "at last"

    handle = flaky.enqueue()
    waiter = in_thread(lambda: runs.append(handle.result(timeout=LONG)))
    drain(app, clock=clock)
    waiter.join(LONG)
    assert runs == [1, 1, 1, "at last"]


def test_an_application_answers_about_its_jobs(app, thumbnail):
    first, second = thumbnail.enqueue(path="a"), thumbnail.using(group="g", tenant="t").enqueue(path="b")
    assert [job.id for job in app.jobs()] == [second.id, first.id]
    assert [job.id for job in app.jobs(limit=1, before=second.id)] == [first.id]
    assert [job.id for job in app.jobs(group="g", status="queued")] == [second.id]
    assert app.get(second.id, tenant="t").id == second.id
    assert app.explain(first.id)["reasons"][0]["code"] == "NO_WORKER"
    assert app.statistics()["lines"][0]["waiting"] == 2


def test_an_unknown_filter_is_refused_with_those_there_are(app):
    with pytest.raises(holdfast.BadInput, match=r"unknown option colour; .*status"):
        app.jobs(colour="red")


def test_an_application_cancels_and_retries(app):
    handle = app.job(refuse).enqueue(path="a")
    with pytest.raises(holdfast.Conflict) as caught:
        app.retry(handle.id)
    assert caught.value.code == "WRONG_STATUS"
    drain(app)
    assert app.retry(handle.id, actor="ann").status == "queued"
    assert app.cancel(handle.id, mode="graceful", actor="ann")["status"] == "cancelled"


def test_a_closed_application_says_so(app, thumbnail):
    handle = thumbnail.enqueue(path="a")
    app.close()
    app.close()
    for call in (lambda: thumbnail.enqueue(path="a"), handle.status, lambda: handle.result(timeout=1), app.statistics):
        with pytest.raises(holdfast.StoreError, match="make a new App") as caught:
            call()
        assert caught.value.code == "STORE_CLOSED"


def test_a_block_closes_the_application(tmp_path):
    with holdfast.App(f"sqlite:///{tmp_path}/jobs.db") as app:
        app.enqueue("elsewhere")
    with pytest.raises(holdfast.StoreError):
        app.enqueue("elsewhere")
