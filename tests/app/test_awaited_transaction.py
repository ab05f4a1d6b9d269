"""`async with job.transaction()`: a coroutine's own transaction, while its loop goes on."""

from __future__ import annotations

import asyncio

import pytest

import holdfast
from holdfast.engine import jobs
from holdfast.model.errors import BadInput, Conflict
from holdfast.model.status import Status
from holdfast.testing import drain
from holdfast.worker import transaction as blocks
from tests.app.test_follow_ups import children, house, notes, second, seen, table

__all__ = ["house", "second", "seen", "table"]
pytestmark = pytest.mark.usefixtures("table")


def test_writes_follow_ups_and_the_completion_commit_together(house, second):
    seen = {}

    @house.job
    async def first(job: holdfast.JobContext) -> str:
        job.follow_up(second, step=2)
        async with job.transaction() as tx:
            await tx.execute("insert into mine values ('written')")
            seen["rows"] = await tx.execute("select note from mine")
            await job.aenqueue(second, step=3)
            job.enqueue(second, step=4)
            seen["inside"] = (await house.desk.aread(jobs.get, job.id)).status, house.get(job.id).status
            tx.result = {"answer": 42}
            seen["result"] = tx.result
        seen["after"] = house.get(job.id).status
        with pytest.raises(BadInput, match="is over"):
            await tx.execute("insert into mine values ('late')")
        return "ignored"

    handle = first.enqueue()
    drain(house)
    assert (handle.result(timeout=5), notes(house)) == ({"answer": 42}, ["written"])
    assert seen == {
        "rows": [("written",)],
        "inside": (Status.IN_PROGRESS, Status.IN_PROGRESS),
        "result": {"answer": 42},
        "after": Status.COMPLETED,
    }
    assert sorted(job.payload["step"] for job in children(house)) == [2, 3, 4]


def test_a_block_that_raises_leaves_nothing(house, second):
    @house.job(max_attempts=1)
    async def first(job: holdfast.JobContext) -> None:
        async with job.transaction() as tx:
            await tx.execute("insert into mine values ('written')")
            await job.aenqueue(second)
            raise ValueError("no")

    handle = first.enqueue()
    drain(house)
    assert (handle.status(), notes(house), children(house)) == (Status.DEAD_LETTER, [], [])


def test_a_run_that_is_no_longer_its_worker_s_rolls_back_all_of_it(house):
    codes = []

    @house.job
    async def first(job: holdfast.JobContext) -> None:
        await asyncio.to_thread(house.cancel, job.id)
        with pytest.raises(Conflict) as refused:
            async with job.transaction() as tx:
                await tx.execute("insert into mine values ('written')")
        codes.append(refused.value.code)

    handle = first.enqueue()
    drain(house)
    assert (handle.status(), codes, notes(house)) == (Status.CANCELLED, ["LEASE_LOST"], [])


def test_a_cancel_in_a_block_is_undone_with_it(house, second):
    other = second.using(delay=60).enqueue()

    @house.job(max_attempts=1)
    def first(job: holdfast.JobContext) -> None:
        with job.transaction():
            house.cancel(other.id)
            raise ValueError("no")

    first.enqueue()
    drain(house)
    assert other.status() == Status.QUEUED


def test_the_loop_goes_on_and_others_wait_for_their_turn(house, second):
    """Another task waits for the desk in its `await`; a plain call, which would stop the loop, is refused."""
    order = []

    async def beside() -> None:
        with pytest.raises(BadInput, match="aenqueue"):
            second.enqueue(step=8)
        order.append("refused")
        await second.aenqueue(step=9)
        order.append("another's")

    @house.job
    async def first(job: holdfast.JobContext) -> None:
        async with job.transaction() as tx:
            await tx.execute("insert into mine values ('written')")
            waiting = asyncio.create_task(beside())
            for _ in range(5):
                await asyncio.sleep(0.01)
            order.append("block")
        await waiting

    first.enqueue()
    drain(house)
    assert order == ["refused", "block", "another's"]
    assert [job.payload["step"] for job in children(house)] == [9]


def test_two_at_once_take_turns(house):
    async def own(job: holdfast.JobContext, word: str) -> None:
        async with job.transaction() as tx:
            await tx.execute(f"insert into mine values ('{word}')")
            await asyncio.sleep(0.01)

    house.job(own)
    handles = [house.enqueue("own", {"word": word}) for word in "abc"]

    async def all_of_them() -> None:
        async with house.worker():
            await asyncio.gather(*(handle.aresult(timeout=20) for handle in handles))

    asyncio.run(all_of_them())
    assert notes(house) == ["a", "b", "c"]


def test_transactions_do_not_nest(house):
    said = []

    @house.job
    async def first(job: holdfast.JobContext) -> None:
        async with job.transaction():
            for inner in (job.transaction().__aenter__, house.transaction().__enter__):
                with pytest.raises(BadInput, match="nest") as refused:
                    await inner()
                said.append(refused.value.code)
        with pytest.raises(BadInput, match="over"):
            await job.transaction().__aenter__()

    handle = first.enqueue()
    drain(house)
    assert (handle.status(), said) == (Status.COMPLETED, ["BAD_OPTION"] * 2)


@pytest.mark.parametrize("how", ["waits for itself", "takes no notice"])
def test_a_block_that_does_not_end_is_rolled_back(house, second, monkeypatch, how):
    monkeypatch.setattr(blocks, "LONGEST", 0.2)
    monkeypatch.setattr(blocks, "LONGEST_AWAITED", 0.2)

    @house.job(max_attempts=1)
    async def first(job: holdfast.JobContext) -> None:
        async with job.transaction() as tx:
            await tx.execute("insert into mine values ('written')")
            try:
                await asyncio.create_task(second.aenqueue(step=9))  # another task's: it waits for the block
            except asyncio.CancelledError:
                if how == "waits for itself":
                    raise

    handle = first.enqueue()
    drain(house)
    job = house.get(handle.id)
    assert (job.status, job.error["code"], notes(house)) == (Status.DEAD_LETTER, "TRANSACTION_TOO_LONG", [])


def test_a_cancelled_task_rolls_back_and_gives_the_desk_back(house, second):
    ends = []

    @house.job
    async def first(job: holdfast.JobContext) -> None:
        async def block() -> None:
            async with job.transaction() as tx:
                await tx.execute("insert into mine values ('written')")
                await asyncio.sleep(60)

        for moment in (0, 0.001, 0.05):
            task = asyncio.create_task(block())
            await asyncio.sleep(moment)
            task.cancel()
            ends.append(type((await asyncio.gather(task, return_exceptions=True))[0]))
        await second.aenqueue(step=1)

    handle = first.enqueue()
    drain(house)
    assert (handle.status(), notes(house), len(children(house))) == (Status.COMPLETED, [], 1)
    assert ends == [asyncio.CancelledError] * 3
