"""A transaction held open by hand: all of it, or none."""

# A transaction that is left by an error is one block.
# ruff: noqa: PT012

from __future__ import annotations

import asyncio
import contextvars
from contextlib import contextmanager

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import BadInput, KeyConflict, NotFound
from tests.engine.given import count, enqueue, get, in_threads, new_job


@pytest.fixture
def transaction(desk):
    return contextmanager(desk.transaction)


class Sabotage(Exception):
    pass


def test_what_is_enqueued_inside_is_there_after_the_block(desk, other, transaction):
    with transaction():
        job_id = enqueue(desk)
    assert get(other, job_id).status == "queued"


def test_nobody_else_sees_it_before_the_block_ends(desk, other, transaction):
    with transaction():
        job_id = enqueue(desk)
        with pytest.raises(NotFound):
            get(other, job_id)


def test_reads_inside_see_their_own_writes(desk, transaction):
    with transaction():
        assert get(desk, enqueue(desk)).status == "queued"


def test_an_error_rolls_everything_back(desk, transaction):
    with pytest.raises(Sabotage), transaction() as tx:
        tx.execute("create table mine (x)")
        enqueue(desk)
        raise Sabotage
    assert count(desk) == 0
    assert desk.read(lambda tx: tx.execute("select name from sqlite_schema where name = 'mine'")) == []


def test_the_caller_s_own_statements_commit_with_the_jobs(desk, other, transaction):
    with transaction() as tx:
        tx.execute("create table orders (number integer)")
        tx.execute("insert into orders values (?)", (7,))
        enqueue(desk)
    assert other.read(lambda tx: tx.execute("select number from orders")) == [(7,)]
    assert count(other) == 1


def test_transactions_do_not_nest(desk, transaction):
    with transaction():
        kept = enqueue(desk)
        with pytest.raises(BadInput, match="do not nest") as caught, transaction():
            pass
    assert caught.value.code == "BAD_OPTION"
    assert get(desk, kept).status == "queued"


def test_listeners_hear_of_it_once_and_only_after_the_commit(desk, transaction):
    told = []
    desk.listeners.append(lambda news: told.append(set(news.queues)))
    with transaction():
        enqueue(desk, queue="a")
        enqueue(desk, queue="b")
        assert told == []
    assert told == [{"a", "b"}]


def test_a_rolled_back_transaction_tells_nobody(desk, transaction):
    told = []
    desk.listeners.append(told.append)
    with pytest.raises(Sabotage), transaction():
        enqueue(desk)
        raise Sabotage
    assert told == []


def test_other_threads_wait_until_the_block_ends(desk, transaction):
    order = []

    def hold():
        with transaction():
            enqueue(desk)
            order.append("inside")
        order.append("left")

    def hurry():
        enqueue(desk)

    in_threads(hold, hurry, hurry)
    assert count(desk) == 3
    assert order == ["inside", "left"]


def test_a_refused_bulk_inside_a_transaction_stores_none_of_its_jobs(desk, transaction):
    enqueue(desk, payload="[1]", key="taken")
    with transaction():
        with pytest.raises(KeyConflict):
            desk.write(jobs.enqueue, [new_job(key="free"), new_job(payload="[2]", key="taken")])
        enqueue(desk, payload='["mine"]')
    payloads = [row[0] for row in desk.read(lambda tx: tx.execute("select payload from job_queue order by id"))]
    assert payloads == ["[1]", '["mine"]']


async def test_an_await_of_the_same_task_joins_the_transaction(desk, transaction):
    with pytest.raises(Sabotage), transaction():
        await desk.awrite(jobs.enqueue, [new_job()])
        assert (await desk.aread(jobs.list_jobs))[0] != []
        raise Sabotage
    assert count(desk) == 0


async def test_another_task_of_the_thread_may_not_write_while_one_holds_a_transaction(desk, transaction):
    opened, tried = asyncio.Event(), asyncio.Event()

    async def hold():
        with transaction():
            opened.set()
            await tried.wait()

    async def intrude():
        await opened.wait()
        try:
            with pytest.raises(BadInput, match="do not await inside") as caught:
                enqueue(desk)
            with pytest.raises(BadInput, match="do not await inside"), transaction():
                pass
        finally:
            tried.set()
        return caught.value.code

    _, code = await asyncio.gather(hold(), intrude())
    assert code == "BAD_OPTION"
    assert count(desk) == 0


async def test_another_task_that_awaits_its_write_is_served_after_the_block(desk, transaction):
    opened = asyncio.Event()

    async def hold():
        with transaction():
            opened.set()
            await asyncio.sleep(0)

    async def polite():
        await opened.wait()
        return await desk.awrite(jobs.enqueue, [new_job()])

    await asyncio.wait_for(asyncio.gather(hold(), polite()), 30)
    assert count(desk) == 1


async def test_a_task_born_inside_does_not_write_into_the_transaction_after_it_ended(desk, other, transaction):
    told = []
    desk.listeners.append(told.append)

    async def later():
        await left.wait()
        return enqueue(desk)

    left = asyncio.Event()
    with transaction():
        task = asyncio.ensure_future(later())
        await asyncio.sleep(0)
    left.set()
    job_id = await task
    assert get(other, job_id).status == "queued"
    assert told, "the job was written past the desk: nobody was told of it"


async def test_a_task_born_inside_one_transaction_does_not_slip_into_the_next(desk, transaction):
    async def later():
        await second.wait()
        try:
            return enqueue(desk)
        except BadInput:
            return None

    second = asyncio.Event()
    with transaction():
        task = asyncio.ensure_future(later())
        await asyncio.sleep(0)
    with pytest.raises(Sabotage), transaction():
        second.set()
        job_id = await task
        raise Sabotage
    assert job_id is None or get(desk, job_id), "it was told that its job is stored, and it is not"


def test_a_copied_context_on_another_thread_does_not_use_the_transaction(desk, transaction):
    with pytest.raises(Sabotage), transaction():
        copied = contextvars.copy_context()
        enqueue(desk)
        (job_id,) = in_threads(lambda: copied.run(desk.read, lambda tx: tx.execute("select count(*) from job_queue")))
        assert job_id == [(0,)], "another thread read through a transaction that is not its own"
        raise Sabotage
