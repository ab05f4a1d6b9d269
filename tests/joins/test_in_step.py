"""A plain function whose every statement is awaited by the caller's task: cancelled, thrown away, alone."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from queue import SimpleQueue

import psycopg
import pytest

from holdfast.store.postgres.in_step import in_step
from tests.joins.kinds import Asyncpg, PsycopgAsync

WHO: ContextVar[str] = ContextVar("WHO", default="nobody")


async def give(value):
    return value


async def test_each_step_is_awaited_in_the_callers_own_task():
    WHO.set("ann")
    here = asyncio.current_task()

    async def look():
        return asyncio.current_task() is here, WHO.get()

    assert await in_step(lambda step: step(look)) == (True, "ann")


async def test_what_a_step_raises_is_raised_in_the_function():
    async def fail():
        raise ZeroDivisionError

    def work(step):
        try:
            step(fail)
        except ZeroDivisionError:
            return step(lambda: give(7))

    assert await in_step(work) == 7


async def test_what_the_function_raises_is_raised_at_the_caller():
    def work(step):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await in_step(work)


async def test_a_cancel_reaches_the_step_under_way_and_the_function_may_clean_up():
    begun, cleaned = asyncio.Event(), []

    async def begin_and_hang():
        begun.set()
        await hang()

    def work(step):
        try:
            step(begin_and_hang)
        finally:
            cleaned.append(step(lambda: give("clean")))

    task = asyncio.create_task(in_step(work))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == ["clean"]


async def test_a_cancel_between_two_steps_reaches_the_next():
    go, reached = threading.Event(), []

    def work(step):
        go.wait(10)
        step(lambda: give(reached.append("never")))

    task = asyncio.create_task(in_step(work))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reached == []


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancel_after_the_last_step_is_not_lost(fails):
    go = threading.Event()

    def work(_):
        go.wait(10)
        if fails:
            raise ZeroDivisionError

    task = asyncio.create_task(in_step(work))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task


async def hang():
    await asyncio.Event().wait()


async def test_a_task_thrown_away_during_a_step_lets_the_thread_go():
    threads = SimpleQueue()

    def work(step):
        threads.put(threading.current_thread())
        step(hang)

    walk = in_step(work)
    waiting = walk.send(None)  # as a loop does it
    waiting._asyncio_future_blocking = False
    await waiting
    walk.send(None)
    walk.close()
    thread = threads.get(timeout=10)
    thread.join(10)
    assert not thread.is_alive()


async def test_a_task_thrown_away_between_steps_lets_the_thread_go():
    go, threads, ends = threading.Event(), SimpleQueue(), []

    def work(step):
        threads.put(threading.current_thread())
        go.wait(10)
        try:
            step(hang)
        finally:
            ends.append("first")
            step(hang)

    walk = in_step(work)
    walk.send(None)
    walk.close()
    go.set()
    thread = threads.get(timeout=10)
    thread.join(10)
    assert not thread.is_alive()
    assert ends == ["first"]


def test_a_loop_that_is_closed_lets_the_thread_go():
    go, threads = threading.Event(), SimpleQueue()

    def work(step):
        threads.put(threading.current_thread())
        go.wait(10)

    async def main():
        walk = in_step(work)
        walk.send(None)
        walk.close()

    asyncio.run(main())
    go.set()
    thread = threads.get(timeout=10)
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("kind", [Asyncpg, PsycopgAsync])
def test_a_cancelled_enqueue_gives_the_connection_back_at_rest(app, connect, kind, url, send):
    """The key is held by a transaction that has not ended, so the enqueue waits until it is cancelled."""
    own = connect(kind, url)
    calls = [send.using(key="k").call(to="a"), send.using(key="l").call(to="a")]
    with psycopg.connect(url) as other:
        app.enqueue_many(calls, connection=other)
        own.begin()

        async def main():
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await app.aenqueue_many(calls, connection=own.given)

        own.run(main())
        other.rollback()
    handle = own.enqueue(app, "send", {"to": "b"})
    own.commit()
    assert [job.id for job in app.jobs()] == [handle.id]
