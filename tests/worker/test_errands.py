"""A worker at rest has its claims made by the thread that hears of new work; there is never a second one under way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.worker.errand import Errand
from holdfast.worker.worker import Worker
from tests.patience import wait_for_async

LONG = 600.0


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[holdfast.App]:
    """Whose workers neither hear of anything nor look by themselves."""
    monkeypatch.setattr("holdfast.worker.worker.POLL", LONG)
    with holdfast.App(f"sqlite:///{tmp_path}/jobs.db?synchronous=normal", signal="off") as one:
        yield one


@pytest.fixture
def elsewhere(app: holdfast.App) -> Iterator[holdfast.App]:
    """Another process, as it were: nobody here learns of what it enqueues."""
    with holdfast.App(app.url, signal="off") as one:
        yield one


async def at_rest(worker: Worker) -> Errand:
    """The errand of a worker that has nothing to do."""
    await wait_for_async(lambda: worker._errand is not None)
    assert worker._errand is not None
    return worker._errand


def test_whoever_takes_an_errand_first_has_it_alone():
    errand = Errand([], [])
    assert errand.take()
    assert not errand.take()


async def test_a_job_is_fetched_for_a_worker_at_rest(app: holdfast.App, elsewhere: holdfast.App):
    @app.job
    async def double(number: int) -> int:
        return number * 2

    async with app.worker() as worker:
        await at_rest(worker)
        handles = [elsewhere.enqueue("double", {"number": number}) for number in range(3)]
        assert await asyncio.to_thread(worker.fetch)
        for number, handle in enumerate(handles):
            await wait_for_async(lambda handle=handle: handle.status() == "completed")
            assert await handle.aresult(timeout=1) == number * 2


async def test_a_fetch_that_finds_nothing_leaves_the_next_one_as_it_was(app: holdfast.App, elsewhere: holdfast.App):
    @app.job
    async def nothing() -> None: ...

    async with app.worker() as worker:
        first = await at_rest(worker)
        assert await asyncio.to_thread(worker.fetch)
        await wait_for_async(lambda: worker._errand not in (None, first))
        handle = elsewhere.enqueue("nothing", {})
        assert await asyncio.to_thread(worker.fetch)
        await wait_for_async(lambda: handle.status() == "completed")


async def test_who_does_not_rest_has_to_look_itself(app: holdfast.App):
    @app.job
    async def nothing() -> None: ...

    async with app.worker() as worker:
        errand = await at_rest(worker)
        errand.take()
        assert not await asyncio.to_thread(worker.fetch)
        errand.end(None)
        worker.look()
        await wait_for_async(lambda: worker._errand not in (None, errand))
    assert not worker.fetch()


async def test_a_store_that_would_not_answer_the_fetch_is_asked_by_the_loop(app: holdfast.App, elsewhere: holdfast.App):
    @app.job
    async def nothing() -> None: ...

    async with app.worker() as worker:
        await at_rest(worker)
        handle = elsewhere.enqueue("nothing", {})
        with elsewhere.transaction():
            assert await asyncio.to_thread(worker.fetch)  # a lock that is taken is not waited for long
        await wait_for_async(lambda: handle.status() == "completed")


async def test_a_fetch_that_fails_for_whatever_reason_leaves_the_work_to_the_loop(
    app: holdfast.App, elsewhere: holdfast.App
):
    @app.job
    async def nothing() -> None: ...

    async with app.worker() as worker:
        errand = await at_rest(worker)
        errand.orders = [None]  # type: ignore[list-item]  # no store can make anything of it
        handle = elsewhere.enqueue("nothing", {})
        assert await asyncio.to_thread(worker.fetch)
        await wait_for_async(lambda: handle.status() == "completed")


async def test_what_is_fetched_while_the_worker_leaves_is_handed_back(app: holdfast.App, elsewhere: holdfast.App):
    @app.job
    async def nothing() -> None: ...

    async with app.worker() as worker:
        await at_rest(worker)
        handle = elsewhere.enqueue("nothing", {})
        assert worker.fetch()  # brought when the loop goes round
        assert elsewhere.get(handle.id).status == "in_progress"
        worker.drain(5.0)
    job = elsewhere.get(handle.id)
    assert (job.status, job.attempts, job.interrupted) == ("queued", 0, 0)


async def test_a_loop_that_may_block_claims_while_it_is_told(app: holdfast.App, elsewhere: holdfast.App):
    @app.job
    async def nothing() -> None: ...

    async with app.worker() as worker:
        worker.may_block = True
        await at_rest(worker)
        handle = elsewhere.enqueue("nothing", {})
        worker.look()
        assert elsewhere.get(handle.id).status == "in_progress"
        await wait_for_async(lambda: handle.status() == "completed")


async def test_a_worker_that_leaves_does_not_rest_once_its_last_run_has_ended(app: holdfast.App):
    @app.job
    async def short() -> None:
        await asyncio.sleep(0.3)

    handle = short.enqueue()
    async with asyncio.timeout(30), app.worker(stop_seconds=LONG) as worker:
        await wait_for_async(lambda: worker.running == 1)
    assert handle.status() == "completed"
