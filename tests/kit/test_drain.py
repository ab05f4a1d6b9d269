"""drain(): every due job, in the order a worker would take them."""

from __future__ import annotations

import asyncio

import pytest

import holdfast
from holdfast.testing import drain


@pytest.fixture
def app(holdfast_app):
    return holdfast_app


@pytest.fixture
def note(app):
    """A handler that tells what ran, in order."""
    ran: list[str] = []

    def note(name: str):
        ran.append(name)
        return name

    handler = app.job(note)
    handler.ran = ran
    return handler


def test_an_empty_app_drains_at_once(app, note):
    done = drain(app)
    assert (done.ran, done.by_status) == ([], {})


def test_jobs_run_by_priority_then_in_the_order_they_came(app, note):
    for name, priority in (("c", 5), ("a", 1), ("d", 5), ("e", 10), ("b", 2)):
        note.using(priority=priority).enqueue(name)
    done = drain(app)
    assert note.ran == ["a", "b", "c", "d", "e"]
    assert len(done.ran) == len(done.by_status["completed"]) == 5


def test_a_plain_function_and_a_coroutine_run_alike(app):
    @app.job
    def plain(n: int):
        return n + 1

    @app.job
    async def coroutine(n: int):
        await asyncio.sleep(0)
        return n + 1

    handles = [plain.enqueue(1), coroutine.enqueue(2)]
    drain(app)
    assert [handle.result(timeout=0) for handle in handles] == [2, 3]


def test_a_job_enqueued_by_a_running_job_runs_in_the_same_drain(app, note):
    @app.job
    def first():
        note.enqueue("second")

    @app.job
    async def third():
        await note.aenqueue("fourth")

    first.enqueue()
    third.enqueue()
    drain(app)
    assert note.ran == ["second", "fourth"]


def test_a_type_without_a_handler_waits(app, note):
    handle = app.enqueue("elsewhere")
    assert drain(app).ran == []
    assert handle.status() == "queued"


def test_a_job_sent_to_another_queue_runs_too(app, note):
    note.using(queue="other").enqueue("a")
    drain(app)
    assert note.ran == ["a"]


def test_a_newer_handler_runs_the_jobs_of_an_older_one(app):
    ran = []
    app.enqueue("image", {"path": "stored by the old one"})  # version 1
    app.job(type="image", version=2)(lambda path: ran.append(path))  # noqa: PLW0108  # a lambda is a plain function; a method of a list is not
    drain(app)
    assert ran == ["stored by the old one"]


def test_a_job_that_enqueues_itself_for_ever_is_stopped_with_a_clear_message(app):
    @app.job
    def again():
        again.enqueue()

    again.enqueue()
    with pytest.raises(AssertionError, match="30 jobs ran and more are due: does one enqueue itself for ever"):
        drain(app, most=30)


def test_exactly_as_many_jobs_as_allowed_are_no_endless_loop(app, note):
    note.enqueue("a")
    note.enqueue("b")
    assert len(drain(app, most=2).ran) == 2


async def test_a_drain_inside_an_event_loop_is_refused_before_it_takes_a_job(app):
    @app.job
    async def nothing(): ...

    handle = nothing.enqueue()
    with pytest.raises((RuntimeError, holdfast.HoldfastError)):
        drain(app)
    assert handle.status() == "queued"


async def test_a_coroutine_can_drain_on_a_thread(app):
    @app.job
    async def nothing(): ...

    handle = await nothing.aenqueue()
    await asyncio.to_thread(drain, app)
    assert await handle.aresult(timeout=0) is None


def test_a_paused_queue_is_not_drained(app, note):
    note.enqueue("a")
    app.desk.write(lambda tx: tx.pause("default", "ann"))
    assert drain(app).ran == []


def test_a_cancelled_job_does_not_run(app, note):
    note.enqueue("a").cancel()
    assert drain(app).ran == []


def test_progress_is_seen_while_the_job_runs(app):
    seen = []

    @app.job
    def work(context: holdfast.JobContext):
        context.progress(1, 4, "begun")
        seen.append(app.get(context.id).progress)
        context.partial({"rows": 10})
        seen.append(app.get(context.id).progress)
        context.progress(4, 4, "done")
        seen.append(app.get(context.id).progress)

    work.enqueue()
    drain(app)
    assert seen == [
        {"done": 1, "total": 4, "message": "begun"},
        {"done": 1, "total": 4, "message": "begun", "partial": {"rows": 10}},
        {"done": 4, "total": 4, "message": "done", "partial": {"rows": 10}},
    ]


def test_the_last_progress_is_kept_however_quickly_it_came(app):
    @app.job
    def work(context: holdfast.JobContext):
        for done in range(1, 8):
            context.progress(done, 10)

    handle = work.enqueue()
    drain(app)
    assert handle.job().progress["done"] == 7


def test_progress_is_written_at_most_four_times_a_second(app):
    @app.job
    def work(context: holdfast.JobContext):
        for done in range(500):
            context.progress(done, 1_000)

    handle = work.enqueue()
    drain(app)
    assert handle.job().version < 15


def test_the_context_tells_about_the_run(app):
    told = {}

    @app.job
    def work(context: holdfast.JobContext, x: int):
        told.update(
            id=context.id, type=context.type, attempt=context.attempt, tenant=context.tenant, group=context.group,
            context=context.context, cancelled=context.cancelled, x=x,
        )  # fmt: skip

    handle = work.using(tenant="t", group="g", context={"user_id": "u"}).enqueue(x=1)
    drain(app)
    assert told == {
        "id": handle.id, "type": "work", "attempt": 1, "tenant": "t", "group": "g", "context": {"user_id": "u"},
        "cancelled": False, "x": 1,
    }  # fmt: skip


def test_a_run_whose_job_was_cancelled_learns_it_at_its_next_progress(app):
    seen = []

    @app.job
    def work(context: holdfast.JobContext):
        app.cancel(context.id)
        seen.append(context.cancelled)
        context.progress(1, 1)
        seen.append(context.cancelled)
        return "too late"

    handle = work.enqueue()
    done = drain(app)
    assert seen == [False, True]
    assert done.by_status == {"cancelled": [handle.id]}
    assert handle.job().result is None
