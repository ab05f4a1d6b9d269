"""Batches through the public API."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator

import pytest

import holdfast
from holdfast.model.errors import HoldfastError
from holdfast.testing import drain


@pytest.fixture
def square(app):
    @app.job(max_attempts=2)
    def square(n: int) -> int:
        if n == 13:
            raise ValueError("unlucky")
        if n == 17:
            raise holdfast.Permanent("never")
        return n * n

    return square


@pytest.fixture
def called(app):
    return []


@pytest.fixture
def report(app, called):
    @app.job
    def report(batch: str, note: str = "") -> None:
        called.append((batch, note))

    return report


def numbers(count: int) -> Iterator[dict[str, int]]:
    return ({"n": n} for n in range(count))


def test_a_handler_runs_over_many_items(app, clock, square, report, called):
    batch = app.map(square, numbers(30), chunk=7, callback=report, group="shop")
    assert batch.created
    assert batch.progress() == {"total": 30, "done": 0, "failed": 0, "cancelled": 0, "running": 30, "percent": 0.0}
    assert [len(job.payload["items"]) for job in app.jobs()] == [2, 7, 7, 7, 7]
    assert {(job.group, job.batch, job.item) for job in app.jobs()} == {("shop", batch.id, None)}
    drain(app)
    assert batch.progress() == {"total": 30, "done": 28, "failed": 1, "cancelled": 0, "running": 1, "percent": 96.7}
    (alone,) = app.jobs(status="queued")
    assert (alone.item, alone.attempts, alone.group, alone.payload) == (13, 1, "shop", {"n": 13})
    assert called == []
    drain(app, clock=clock)
    assert called == [(batch.id, "")]
    assert batch.wait(timeout=0)["percent"] == 100.0
    results = list(batch.results())
    assert [number for number, _, _ in results] == list(range(30))
    assert results[4] == (4, "done", 16)
    assert [(number, error["message"]) for number, _, error in batch.errors()] == [(13, "unlucky"), (17, "never")]
    assert next(batch.results(after=28)) == (29, "done", 841)
    assert repr(batch) == f"<Batch {batch.id}>"


def test_a_chunk_of_one_makes_ordinary_jobs(app, square):
    batch = app.map("square", [{"n": 2}, {"n": 3}], chunk=1, priority=2)
    assert [(job.item, job.payload, job.priority) for job in app.jobs()] == [(1, {"n": 3}, 2), (0, {"n": 2}, 2)]
    drain(app)
    assert app.batch(batch.id).progress()["done"] == 2


def test_an_item_knows_its_batch(app):
    seen = []

    @app.job
    def look(n: int, job: holdfast.JobContext) -> None:
        job.progress(1, 2)
        job.partial("x")
        seen.append((job.batch, job.item, job.attempt))

    batch = app.map(look, numbers(2))
    drain(app)
    assert seen == [(batch.id, 0, 1), (batch.id, 1, 1)]
    assert app.jobs()[0].progress["done"] == 2


def test_an_item_that_snoozes_waits_on_its_own_and_spends_nothing(app):
    @app.job
    def wait(n: int) -> None:
        raise holdfast.Snooze(60)

    app.map(wait, numbers(1))
    drain(app)
    (alone,) = app.jobs(status="queued")
    assert (alone.item, alone.attempts, alone.failed, alone.error) == (0, 0, 0, None)


async def test_a_batch_is_awaited(app):
    @app.job
    async def double(n: int) -> int:
        await asyncio.sleep(0.01)
        return 2 * n

    async with app.worker():
        batch = await app.amap(double, numbers(5), chunk=2)
        assert (await batch)["done"] == 5
        assert (await batch.aprogress())["percent"] == 100.0
        assert [value async for _, _, value in batch.aresults()] == [0, 2, 4, 6, 8]
        assert await batch.acancel() == 0
        with pytest.raises(HoldfastError, match="await"):
            batch.wait()


@pytest.mark.parametrize("awaited", [True, False])
async def test_a_chunk_goes_on_where_it_was_stopped(make_app, awaited):
    app, ran, some = make_app(), [], threading.Event()

    async def coroutine(n: int) -> None:
        run(n)
        await asyncio.sleep(0.03)

    def function(n: int) -> None:
        run(n)
        time.sleep(0.03)

    def run(n: int) -> None:
        ran.append(n)
        if n == 3:
            some.set()

    batch = app.map(app.job(coroutine if awaited else function), numbers(12))
    async with app.worker():
        await asyncio.to_thread(some.wait, 10)
    assert len(ran) < 12
    assert app.jobs()[0].interrupted == 1
    async with app.worker():
        assert (await batch.await_end(10))["done"] == 12
    assert ran == list(range(12))


async def test_a_wait_may_be_too_short(app, square):
    batch = await app.amap(square, numbers(3))
    with pytest.raises(holdfast.ResultTimeout, match="3 of 3 items"):
        await batch.await_end(timeout=0.05)
    with pytest.raises(holdfast.BadInput):
        await batch.await_end(timeout="soon")
    assert await batch.acancel() == 1
    assert (await batch)["cancelled"] == 3


def test_a_wait_ends_with_the_batch(app, square, in_thread):
    batch = app.map(square, numbers(3))
    in_thread(batch.cancel)
    assert batch.wait(timeout=10)["cancelled"] == 3
    assert {status for _, status, _ in batch.errors()} == {"cancelled"}


def test_the_callback_may_be_a_call_with_options(app, square, report, called):
    batch = app.map(square, [], callback=report.using(priority=1).call(note="hello"))
    assert app.jobs()[0].priority == 1
    drain(app)
    assert called == [(batch.id, "hello")]


def test_a_callback_need_not_take_the_batch(app, square):
    @app.job
    def tell(note: str) -> None: ...

    app.map(square, [], callback=tell.call("over"))
    assert app.jobs()[0].payload == {"note": "over"}


def test_the_same_key_answers_the_same_batch(app, square):
    first = app.map(square, numbers(3), key="import")
    again = app.map(square, numbers(3), key="import")
    assert (first.created, again.created, again.id) == (True, False, first.id)
    with pytest.raises(holdfast.KeyConflict):
        app.map(square, numbers(4), key="import")
    assert len(app.jobs()) == 1


def test_nothing_is_stored_if_one_item_does_not_fit(app, square):
    with pytest.raises(holdfast.PayloadError, match="item 2: payload does not fit"):
        app.map(square, [{"n": 1}, {"n": 2}, {"n": "three"}])
    with pytest.raises(holdfast.PayloadError, match="item 0 is a int"):
        app.map(square, [1])
    assert app.jobs() == []


def test_a_batch_joins_a_transaction_of_the_caller(make_app, tmp_path):
    app = make_app("driver=sqlite3&allow_unsafe_sqlite=1")

    @app.job
    def nothing(n: int) -> None: ...

    app.jobs()
    connection = sqlite3.connect(tmp_path / "jobs.db")
    app.map(nothing, numbers(3), connection=connection)
    assert app.jobs() == []
    connection.commit()
    connection.close()
    assert len(app.jobs()) == 1


async def test_a_batch_joins_a_transaction_from_a_coroutine(make_app, tmp_path):
    app = make_app("driver=sqlite3&allow_unsafe_sqlite=1")

    @app.job
    def nothing(n: int) -> None: ...

    app.jobs()
    connection = sqlite3.connect(tmp_path / "jobs.db")
    batch = await app.amap(nothing, numbers(3), connection=connection)
    connection.rollback()
    connection.close()
    with pytest.raises(holdfast.NotFound):
        batch.progress()


def test_a_full_queue_takes_no_batch(make_app, clock):
    app = make_app(clock=clock, max_depth={"default": 2})

    @app.job
    def nothing(n: int) -> None: ...

    app.map(nothing, numbers(200))
    with pytest.raises(HoldfastError, match="maximum"):
        app.map(nothing, numbers(1))


def test_chunks_do_not_grow_without_bound(app):
    @app.job
    def read(text: str) -> int:
        return len(text)

    batch = app.map(read, ({"text": "x" * 200_000} for _ in range(12)))
    assert [len(job.payload["items"]) for job in app.jobs()] == [2, 5, 5]
    drain(app)
    assert [value for _, _, value in batch.results()] == [200_000] * 12


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("nobody", []), {}),
        ((7, []), {}),
        ((None, "square", "text"), {}),
        ((None, "square", {"n": 1}), {}),
        ((None, "square", 5), {}),
        ((None, "square", []), {"chunk": 0}),
        ((None, "square", []), {"chunk": 2.5}),
        ((None, "square", []), {"callback": "report"}),
        ((None, "square", []), {"coalesce_key": "k"}),
        ((None, "square", []), {"colour": "red"}),
        ((None, "square", []), {"key": ""}),
    ],
)
def test_what_cannot_be_is_refused(app, square, arguments, options):
    given = arguments[1:] if arguments[0] is None else arguments
    with pytest.raises(holdfast.BadInput):
        app.map(*given, **options)


def test_a_handler_with_a_key_of_its_own_is_refused(app, square):
    with pytest.raises(holdfast.BadInput, match="key of its own"):
        app.map(square.using(key="k"), [])


def test_more_items_than_a_batch_takes_are_refused(app, square, monkeypatch):
    monkeypatch.setattr("holdfast.model.batch.MOST_ITEMS", 10)
    with pytest.raises(holdfast.BadInput, match="at most 10 items"):
        app.map(square, numbers(11))
    assert app.map(square, numbers(10)).progress()["total"] == 10


def test_explain_tells_of_the_batch(app, square):
    batch = app.map(square, numbers(1))
    reasons = app.explain(app.jobs()[0].id)["reasons"]
    assert reasons[-1]["code"] == "IN_BATCH"
    assert batch.id in reasons[-1]["text"]


@pytest.mark.parametrize("name", ["", "\0", "é", "0" * 26])
def test_a_batch_that_never_was_is_not_found(app, name):
    with pytest.raises(holdfast.NotFound, match="no batch"):
        app.batch(name).progress()
