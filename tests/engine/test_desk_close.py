"""Closing the desk: what was accepted is finished, what comes later is refused."""

# A lambda here stands for a verb or handler and takes what it is given.
# ruff: noqa: ARG005

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import StoreError
from tests.engine.given import LONG, count, enqueue, new_job, open_desk


def test_a_closed_desk_says_so(tmp_path):
    desk = open_desk(tmp_path)
    job_id = enqueue(desk)
    desk.close()
    for call in (
        lambda: enqueue(desk),
        lambda: desk.read(jobs.get, job_id),
        contextmanager(desk.transaction)().__enter__,
    ):
        with pytest.raises(StoreError, match="make a new App") as caught:
            call()
        assert caught.value.code == "STORE_CLOSED"


async def test_a_closed_desk_says_so_to_coroutines(tmp_path):
    desk = open_desk(tmp_path)
    desk.close()
    for call in (desk.awrite(jobs.enqueue, [new_job()]), desk.aread(jobs.get, "x")):
        with pytest.raises(StoreError) as caught:
            await call
        assert caught.value.code == "STORE_CLOSED"


def test_a_desk_may_be_closed_twice(tmp_path):
    desk = open_desk(tmp_path)
    enqueue(desk)
    desk.close()
    desk.close()


def test_a_desk_that_was_never_used_may_be_closed(tmp_path):
    open_desk(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def test_closing_ends_the_database_thread(tmp_path):
    desk = open_desk(tmp_path)
    asyncio.run(desk.awrite(jobs.enqueue, [new_job()]))
    thread = desk._thread
    desk.close()
    assert not thread.is_alive()


def test_closing_folds_the_log_into_the_file(tmp_path):
    desk = open_desk(tmp_path)
    enqueue(desk)
    desk.close()
    assert [path.name for path in tmp_path.iterdir()] == ["jobs.db"]


async def test_what_was_accepted_before_the_close_is_answered(tmp_path):
    desk = open_desk(tmp_path)
    let_go = threading.Event()
    blocked = asyncio.ensure_future(desk.awrite(lambda tx: let_go.wait(LONG)))
    accepted = [asyncio.ensure_future(desk.awrite(jobs.enqueue, [new_job()])) for _ in range(5)]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(asyncio.to_thread(desk.close))
    let_go.set()
    answers = await asyncio.wait_for(asyncio.gather(blocked, *accepted), LONG)
    await closing
    again = open_desk(tmp_path)
    assert count(again) == len(answers) - 1 == 5
    again.close()


def test_a_new_desk_finds_what_the_closed_one_stored(tmp_path):
    desk = open_desk(tmp_path)
    job_id = enqueue(desk)
    desk.close()
    again = open_desk(tmp_path)
    assert again.read(jobs.get, job_id).status == "queued"
    again.close()
