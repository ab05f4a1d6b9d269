"""Coroutines at the desk: one database thread serves them, and nobody waits for ever."""

# A lambda here stands for a verb or handler and takes what it is given.
# ruff: noqa: ARG005

from __future__ import annotations

import asyncio
import threading

import pytest

from holdfast.engine import jobs
from holdfast.model.errors import KeyConflict, NotFound, StoreError
from tests.engine.given import LONG, count, enqueue, get, new_job, open_desk


def raises(error):
    def verb(tx):
        raise error

    return verb


async def aenqueue(desk, payload="{}", **options):
    return (await desk.awrite(jobs.enqueue, [new_job(payload=payload, **options)]))[0][0]


async def test_each_of_many_coroutines_gets_its_own_answer(desk):
    ids = await asyncio.gather(*(aenqueue(desk, f"[{number}]") for number in range(100)))
    found = await asyncio.gather(*(desk.aread(jobs.get, job_id) for job_id in ids))
    assert [job.payload for job in found] == [[number] for number in range(100)]


async def test_many_coroutines_share_commits(desk):
    commits = []
    desk.listeners.append(commits.append)
    await asyncio.gather(*(aenqueue(desk) for _ in range(200)))
    assert len(commits) < 100


async def test_a_coroutine_s_verb_runs_on_the_database_thread(desk):
    assert await desk.awrite(lambda tx: threading.current_thread().name) == "holdfast-database"
    assert await desk.aread(lambda tx: threading.current_thread().name) == "holdfast-database"


async def test_the_event_loop_goes_on_while_a_verb_runs(desk):
    went_on = threading.Event()
    asyncio.get_running_loop().call_later(0.01, went_on.set)
    assert await desk.awrite(lambda tx: went_on.wait(LONG))


async def test_threads_and_coroutines_mix(desk):
    threads = [asyncio.to_thread(enqueue, desk, payload=f"[{number}]") for number in range(25)]
    coroutines = [aenqueue(desk, f"[{number}]") for number in range(25, 50)]
    ids = await asyncio.gather(*threads, *coroutines)
    assert [get(desk, job_id).payload for job_id in ids] == [[number] for number in range(50)]


async def test_each_failing_coroutine_gets_its_own_error(desk):
    await aenqueue(desk, "[1]", key="taken")
    answers = await asyncio.gather(
        aenqueue(desk, "[2]", key="taken"),
        aenqueue(desk, "[3]"),
        desk.awrite(jobs.retry, "no such job"),
        desk.aread(jobs.get, "no such job"),
        return_exceptions=True,
    )
    assert [type(answer) for answer in answers] == [KeyConflict, str, NotFound, NotFound]
    assert count(desk) == 2


async def test_a_cancelled_awaiter_disturbs_nobody(desk):
    let_go, complaints = threading.Event(), []
    asyncio.get_running_loop().set_exception_handler(lambda loop, told: complaints.append(told))
    blocked = asyncio.ensure_future(desk.awrite(lambda tx: let_go.wait(LONG)))
    waiting = asyncio.ensure_future(aenqueue(desk, '["given up"]'))
    neighbour = asyncio.ensure_future(aenqueue(desk, '["wanted"]'))
    await asyncio.sleep(0)
    waiting.cancel()
    let_go.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert get(desk, await neighbour).payload == ["wanted"]
    assert await blocked is True
    assert count(desk) == 2  # it lay on the desk already, so it was stored
    assert complaints == []


def test_an_answer_for_a_loop_that_is_gone_disturbs_nobody(desk):
    let_go = threading.Event()

    async def give_up():
        task = asyncio.ensure_future(desk.awrite(lambda tx: let_go.wait(LONG)))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(give_up())
    let_go.set()
    assert asyncio.run(aenqueue(desk))


class Fatal(BaseException):
    """What no sane verb raises: not even `except Exception` stops it."""


@pytest.fixture
def quiet_threads(monkeypatch, desk):
    """A dying thread is part of the test; it is gone before the test is over."""
    monkeypatch.setattr(threading, "excepthook", lambda dead: None)
    yield
    desk.close()


@pytest.mark.parametrize("verb", ["awrite", "aread"])
async def test_a_verb_that_ends_the_database_thread_tells_its_caller(desk, quiet_threads, verb):
    done, pending = await asyncio.wait([asyncio.ensure_future(getattr(desk, verb)(raises(Fatal())))], timeout=3)
    for task in pending:
        task.cancel()
    assert [type(task.exception()) for task in done] == [Fatal]


@pytest.mark.parametrize("verb", ["awrite", "aread"])
async def test_the_next_coroutine_is_served_after_the_database_thread_died(desk, quiet_threads, verb):
    lost = asyncio.ensure_future(getattr(desk, verb)(raises(Fatal())))
    await asyncio.wait([lost], timeout=1)
    lost.cancel()
    await asyncio.gather(lost, return_exceptions=True)
    assert await asyncio.wait_for(aenqueue(desk), 3)


async def test_a_coroutine_that_waits_behind_a_dying_database_thread_is_told(desk, quiet_threads):
    let_go = threading.Event()
    blocked = asyncio.ensure_future(desk.awrite(lambda tx: let_go.wait(LONG)))
    await asyncio.sleep(0)
    dying = asyncio.ensure_future(desk.aread(raises(Fatal())))
    behind = asyncio.ensure_future(aenqueue(desk))
    await asyncio.sleep(0)
    let_go.set()
    _, pending = await asyncio.wait([blocked, dying, behind], timeout=3)
    for task in pending:
        task.cancel()
    answers = await asyncio.gather(blocked, dying, behind, return_exceptions=True)
    assert pending == set(), "somebody waits for ever"
    assert isinstance(answers[1], Fatal)


async def test_a_store_that_cannot_be_opened_is_told_to_every_coroutine(tmp_path):
    desk = open_desk(tmp_path / "no such folder")
    answers = await asyncio.gather(aenqueue(desk), aenqueue(desk), desk.aread(jobs.get, "x"), return_exceptions=True)
    desk.close()
    assert [(type(answer), answer.code) for answer in answers] == [(StoreError, "STORE_CANNOT_OPEN")] * 3
