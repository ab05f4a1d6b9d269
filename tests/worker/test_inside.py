"""A worker inside the application: `async with app.worker()`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.model.errors import StoreError
from holdfast.model.status import Status
from tests.patience import PATIENCE


@pytest.fixture
def app(tmp_path: Path) -> Iterator[holdfast.App]:
    with holdfast.App(f"sqlite:///{tmp_path}/jobs.db?synchronous=normal") as one:
        yield one


async def test_jobs_enqueued_before_and_after_the_start_run(app: holdfast.App):
    @app.job
    async def double(number: int) -> int:
        return number * 2

    @app.job
    def half(number: int) -> float:
        return number / 2

    early = double.enqueue(number=2)
    async with app.worker():
        late = await half.aenqueue(number=3)
        assert await early.aresult(timeout=10) == 4
        assert await late.aresult(timeout=10) == 1.5


async def test_the_task_of_a_run_bears_the_name_of_its_job(app: holdfast.App):
    @app.job
    async def name() -> str:
        task = asyncio.current_task()
        assert task is not None
        return task.get_name()

    handle = name.enqueue()
    async with app.worker():
        assert await handle.aresult(timeout=10) == handle.id


async def test_a_coroutine_that_blocks_the_loop_is_told_once(app: holdfast.App, caplog: pytest.LogCaptureFixture):
    @app.job
    async def blocks() -> None:
        await asyncio.sleep(0.3)  # so that it is seen at work
        time.sleep(1.2)  # noqa: ASYNC251  # the fault that is looked for

    async with app.worker():
        for _ in range(2):
            await blocks.enqueue().aresult(timeout=PATIENCE)
        await asyncio.sleep(0.3)
    told = [line.getMessage() for line in caplog.records if "(blocks)" in line.getMessage()]
    afterwards = [line for line in told if "stood still" in line]
    meanwhile = [line for line in told if "stands still" in line]  # on a machine that makes 1.2 seconds longer
    assert told
    assert len(afterwards) <= 1
    assert len(meanwhile) <= 1


async def test_a_coroutine_that_blocks_the_loop_is_told_while_it_does(
    app: holdfast.App, caplog: pytest.LogCaptureFixture
):
    told: list[str] = []

    @app.job
    async def blocks() -> None:
        give_up = time.monotonic() + PATIENCE
        while not told and time.monotonic() < give_up:
            time.sleep(0.01)  # noqa: ASYNC251  # the fault that is looked for
            told.extend(line.getMessage() for line in caplog.records if "stands still" in line.getMessage())

    handle = blocks.enqueue()
    async with app.worker():
        await handle.aresult(timeout=PATIENCE)
        await asyncio.sleep(0.3)
    assert f"does job {handle.id} (blocks) block it? make the handler a plain function" in told[0]
    assert not [line for line in caplog.records if "stood still" in line.getMessage()]  # once is enough


async def test_a_time_out_tells_how_long_the_run_was_allowed_and_where_it_stood(app: holdfast.App):
    async def fetch() -> None:
        await asyncio.sleep(3600)

    @app.job(timeout=0.2, max_attempts=1)
    async def single() -> None:
        await fetch()

    @app.job(timeout=0.2, max_attempts=1, batch=5)
    async def several(jobs: list[dict[str, int]]) -> None:
        await fetch()

    handles = [single.enqueue(), app.enqueue("several", {"n": 1})]
    async with app.worker():
        for handle in handles:
            with pytest.raises(holdfast.JobFailed, match=r"ran longer than its time-out of 0\.2 s"):
                await handle.aresult(timeout=60)
    for handle, name in zip(handles, ("single", "several"), strict=True):
        error = app.get(handle.id).error
        assert error is not None
        lines = [line.rpartition(".")[2] for line in error["where"]]
        assert lines[:2] == [name, "fetch"]
        assert error["where"][-1].startswith("asyncio.tasks:")


async def test_the_time_out_of_a_plain_function_tells_how_long_it_was_allowed(app: holdfast.App):
    @app.job(timeout=0.2, max_attempts=1)
    def waits(job: holdfast.JobContext) -> None:
        while not job.cancelled:
            time.sleep(0.01)

    handle = waits.enqueue()
    async with app.worker():
        with pytest.raises(holdfast.JobFailed, match=r"ran longer than its time-out of 0\.2 s"):
            await handle.aresult(timeout=60)


async def test_the_end_of_the_block_waits_for_what_runs(app: holdfast.App):
    begun = asyncio.Event()

    @app.job
    async def slow() -> str:
        begun.set()
        await asyncio.sleep(0.3)
        return "done"

    handle = slow.enqueue()
    async with app.worker():
        await begun.wait()
    assert handle.status() == Status.COMPLETED


async def test_what_does_not_end_in_time_is_interrupted(app: holdfast.App):
    begun = asyncio.Event()

    @app.job
    async def endless() -> None:
        begun.set()
        await asyncio.sleep(3600)

    handle = endless.enqueue()
    async with app.worker(stop_seconds=0.1):
        await begun.wait()
    job = app.get(handle.id)
    assert (job.status, job.attempts, job.interrupted) == (Status.QUEUED, 0, 1)


async def test_a_run_under_a_graceful_cancel_keeps_its_lease(app: holdfast.App):
    begun = threading.Event()

    @app.job(lease=0.5)
    def thorough(job: holdfast.JobContext) -> str:
        begun.set()
        while not job.cancelled:
            time.sleep(0.01)
        time.sleep(1.2)  # two leases more
        return "finished all the same"

    handle = thorough.enqueue()
    async with app.worker():
        await asyncio.to_thread(begun.wait, 10)
        await asyncio.to_thread(app.cancel, handle.id, mode="graceful")
        assert await handle.aresult(timeout=10) == "finished all the same"
    assert app.get(handle.id).attempts == 1


async def test_an_immediate_cancel_stops_the_handler(app: holdfast.App):
    stopped = asyncio.Event()
    begun = asyncio.Event()

    @app.job(lease=1)
    async def endless() -> None:
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            stopped.set()

    handle = endless.enqueue()
    async with app.worker():
        await begun.wait()
        await asyncio.to_thread(app.cancel, handle.id)
        async with asyncio.timeout(2):
            await stopped.wait()
    assert handle.status() == Status.CANCELLED


async def test_a_handler_that_cancels_itself_fails_and_does_not_go_round_for_ever(app: holdfast.App):
    runs = 0

    @app.job(max_attempts=2, backoff=holdfast.Backoff(base_ms=1, cap_ms=1, jitter_ms=1))
    async def confused() -> None:
        nonlocal runs
        runs += 1
        raise asyncio.CancelledError

    handle = confused.enqueue()
    async with app.worker():
        with pytest.raises(holdfast.JobFailed):
            await handle.aresult(timeout=10)
    job = app.get(handle.id)
    assert (runs, job.status, job.failed, job.interrupted) == (2, Status.DEAD_LETTER, 2, 0)


async def test_isolated_types_are_left_waiting_and_it_is_said(app: holdfast.App, caplog):
    @app.job(isolation="process")
    def heavy() -> None:
        """Must not run in the application's own process."""

    @app.job
    async def light() -> None:
        """May."""

    waits, runs = heavy.enqueue(), light.enqueue()
    async with app.worker():
        await runs.aresult(timeout=10)
    assert waits.status() == Status.QUEUED
    assert "left waiting, because they need processes of their own: heavy" in caplog.text


async def test_progress_that_cannot_be_written_does_not_fail_the_run(app: holdfast.App):
    def away(*_: object) -> None:
        raise StoreError("STORE_BUSY", "held by another")

    @app.job
    async def walk(job: holdfast.JobContext) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(job._desk, "write", away)
            job.progress(1, 1)
        return "arrived"

    handle = walk.enqueue()
    async with app.worker():
        assert await handle.aresult(timeout=10) == "arrived"
