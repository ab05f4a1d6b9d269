"""What a handler asks to be done next, and its own transaction, through the whole application."""

# A transaction that is left by an error is one block.
# ruff: noqa: PT012

from __future__ import annotations

import threading
import time

import pytest

import holdfast
from holdfast.model.errors import BadInput, Conflict, HoldfastError
from holdfast.model.status import Status
from holdfast.testing import drain
from tests.servers.postgres import server


@pytest.fixture(params=["sqlite", "sqlite3", "postgres"])
def house(request, make_app, tmp_path):
    """An application on each store."""
    if request.param == "postgres":
        url = server().migrated()
        with holdfast.App(url) as one:
            yield one
        server().drop(url)
    elif request.param == "sqlite3":
        yield make_app("driver=sqlite3&allow_unsafe_sqlite=1&synchronous=normal")
    else:
        yield make_app()


@pytest.fixture
def seen():
    return []


@pytest.fixture
def second(house, seen):
    def second(step: int = 2) -> int:
        seen.append(step)
        return step

    return house.job(second)


def children(app):
    return app.jobs(type="second")


# -- depends_on


def test_handles_and_ids_may_be_given_as_parents(house, second):
    first, other = second.enqueue(step=1), house.enqueue("elsewhere")
    child = second.using(depends_on=[first, other.id]).enqueue(step=3)
    assert house.get(child.id).blocked == 2
    alone = second.using(depends_on=first).enqueue(step=4)
    assert drain(house).ran == [first.id, alone.id]
    assert house.get(child.id).blocked == 1


def test_a_chain_runs_in_its_order(house, second, seen):
    last = None
    for step in range(5):
        last = second.using(depends_on=last).enqueue(step=step)
    drain(house)
    assert seen == [0, 1, 2, 3, 4]


def test_a_child_of_a_job_that_failed_is_told_as_cancelled(house, second):
    @house.job(max_attempts=1)
    def bad() -> None:
        raise ValueError("no")

    parent = bad.enqueue()
    child = second.using(depends_on=parent).enqueue()
    anyway = second.using(depends_on=parent, on_parent="run").enqueue(step=9)
    drain(house)
    with pytest.raises(holdfast.JobCancelled, match=parent.id):
        child.result(timeout=5)
    assert anyway.result(timeout=5) == 9
    house.retry(parent.id)
    assert (child.status(), house.explain(child.id)["reasons"][0]["code"]) == (Status.QUEUED, "BLOCKED")


def test_explain_names_whom_a_job_waits_for(house, second):
    parents = [house.enqueue("elsewhere") for _ in range(7)]
    child = second.using(depends_on=parents).enqueue()
    reason = house.explain(child.id)["reasons"][0]
    assert reason["code"] == "BLOCKED"
    assert f"waits for job {parents[0].id} (queued)" in reason["text"]
    assert "and 2 more" in reason["text"]


def test_a_parent_that_is_not_there_is_refused_where_it_is_named(house, second):
    with pytest.raises(BadInput) as refused:
        second.using(depends_on="01ARZ3NDEKTSV4RRFFQ69G5FAV").enqueue()
    assert refused.value.code == "PARENT_NOT_FOUND"
    assert children(house) == []


def test_inside_a_transaction_of_the_caller_a_child_may_wait_for_a_job_of_the_same(house, second):
    with house.transaction():
        first = second.enqueue(step=1)
        child = second.using(depends_on=first).enqueue(step=2)
    assert house.get(child.id).blocked == 1
    assert drain(house).ran == [first.id, child.id]


# -- follow-ups


def test_a_follow_up_runs_after_its_parent_and_belongs_to_it(house, second):
    @house.job
    def first(job: holdfast.JobContext) -> None:
        job.follow_up(second, step=2)
        job.follow_up(second.using(tenant="other", group="h").call(step=3))
        assert children(house) == []

    first.using(tenant="acme", group="g", context={"user_id": "ann"}).enqueue()
    drain(house)
    mine, theirs = sorted(children(house), key=lambda job: job.id)
    assert (mine.tenant, mine.group, mine.context["user_id"]) == ("acme", "g", "ann")
    assert (theirs.tenant, theirs.group, theirs.payload) == ("other", "h", {"step": 3})


def test_a_run_that_raises_drops_its_follow_ups_but_not_what_it_enqueued(house, second):
    @house.job(max_attempts=1)
    def first(job: holdfast.JobContext) -> None:
        job.follow_up(second, step=2)
        handle = job.enqueue(second, step=3)
        assert handle.created
        raise ValueError("too bad")

    first.using(tenant="acme").enqueue()
    drain(house)
    (only,) = children(house)
    assert (only.payload, only.tenant) == ({"step": 3}, "acme")


def test_a_coroutine_enqueues_without_blocking(house, second):
    @house.job
    async def first(job: holdfast.JobContext) -> None:
        await job.aenqueue(second.call(step=3))
        job.follow_up(second, step=4)

    first.enqueue()
    drain(house)
    assert sorted(job.payload["step"] for job in children(house)) == [3, 4]


def test_a_follow_up_is_checked_where_it_is_asked_for(house, second):
    errors = []

    @house.job
    def first(job: holdfast.JobContext) -> None:
        for wrong in (
            lambda: job.follow_up(second, step="x"),
            lambda: job.follow_up(second.call(step=1), 5),
            lambda: job.follow_up("second"),
            lambda: job.enqueue(print, 1),
        ):
            with pytest.raises(HoldfastError) as refused:
                wrong()
            errors.append(refused.value.code)

    handle = first.enqueue()
    drain(house)
    assert errors == ["PAYLOAD_INVALID", "BAD_OPTION", "BAD_OPTION", "BAD_OPTION"]
    assert handle.status() is Status.COMPLETED


def test_the_depth_of_a_queue_does_not_bind_follow_ups(make_app):
    app = make_app(max_depth={"default": 1})

    @app.job
    def second() -> None: ...

    @app.job
    def first(job: holdfast.JobContext) -> None:
        job.follow_up(second)
        job.follow_up(second)
        job.enqueue(second)

    first.enqueue()
    assert len(drain(app).ran) == 4


def test_a_follow_up_whose_key_is_taken_by_another_fails_the_run_that_asked(house, second):
    house.enqueue("elsewhere", {"a": 1}, key="k")

    @house.job
    def first(job: holdfast.JobContext) -> None:
        job.follow_up(second.using(key="k").call(step=2))

    handle = first.enqueue()
    drain(house)
    job = house.get(handle.id)
    assert (job.status, job.error["code"]) == (Status.FAILED, "FOLLOW_UP_REFUSED")


# -- job.transaction()


@pytest.fixture
def table(house):
    with house.transaction() as tx:
        tx.execute("create table mine (note text)")


def notes(app):
    with app.transaction() as tx:
        return [row[0] for row in tx.execute("select note from mine order by note")]


def test_writes_follow_ups_and_the_completion_commit_together(house, second, table):
    after = []

    @house.job
    def first(job: holdfast.JobContext) -> str:
        job.follow_up(second, step=2)
        with job.transaction() as tx:
            tx.execute("insert into mine values ('written')")
            job.follow_up(second.using(depends_on=job).call(step=3))
            job.enqueue(second, step=4)
            tx.result = {"answer": 42}
        after.append(house.get(job.id).status)
        return "ignored"

    handle = first.using(tenant="acme").enqueue()
    drain(house)
    assert (handle.result(timeout=5), after, notes(house)) == ({"answer": 42}, [Status.COMPLETED], ["written"])
    assert sorted(job.payload["step"] for job in children(house)) == [2, 3, 4]
    assert {job.status for job in children(house)} == {Status.COMPLETED}
    assert {job.tenant for job in children(house)} == {"acme"}


def test_a_coroutine_may_hold_one_too(house, table):
    @house.job
    async def first(job: holdfast.JobContext) -> None:
        with job.transaction() as tx:
            tx.execute("insert into mine values ('written')")
            tx.result = 1

    handle = first.enqueue()
    drain(house)
    assert (handle.result(timeout=5), notes(house)) == (1, ["written"])


def test_a_block_that_raises_leaves_nothing(house, second, table):
    @house.job(max_attempts=1)
    def first(job: holdfast.JobContext) -> None:
        job.follow_up(second)
        with job.transaction() as tx:
            tx.execute("insert into mine values ('written')")
            raise ValueError("no")

    handle = first.enqueue()
    drain(house)
    assert (handle.status(), notes(house), children(house)) == (Status.DEAD_LETTER, [], [])


@pytest.mark.parametrize("how", ["cancelled", "overtaken"])
def test_a_run_that_is_no_longer_its_worker_s_rolls_back_all_of_it(house, second, table, how):
    errors = []

    @house.job
    def first(job: holdfast.JobContext) -> None:
        job.follow_up(second)
        if how == "cancelled":
            house.cancel(job.id)
        else:
            first.using(coalesce_key="k", sequence=2).enqueue()
        with pytest.raises(Conflict) as refused, job.transaction() as tx:
            tx.execute("insert into mine values ('written')")
        errors.append(refused.value.code)
        raise refused.value

    handle = first.using(coalesce_key="k", sequence=1).enqueue()
    drain(house, most=1) if how == "cancelled" else drain_one(house)
    assert (house.get(handle.id).status, errors[0]) == (Status.CANCELLED, "LEASE_LOST")
    assert (notes(house), children(house)) == ([], [])


def test_what_is_raised_after_the_block_changes_nothing(house, table, caplog):
    @house.job
    def first(job: holdfast.JobContext) -> None:
        with job.transaction() as tx:
            tx.result = 7
        raise ValueError("after all")

    handle = first.enqueue()
    drain(house)
    assert handle.result(timeout=5) == 7


def test_after_the_block_nothing_more_can_be_asked_for(house, second, table):
    codes = []

    @house.job
    def first(job: holdfast.JobContext) -> None:
        with job.transaction():
            pass
        for more in (lambda: job.follow_up(second), lambda: job.transaction().__enter__()):
            with pytest.raises(BadInput) as refused:
                more()
            codes.append(refused.value.code)

    first.enqueue()
    drain(house)
    assert codes == ["BAD_OPTION", "BAD_OPTION"]


def test_a_result_or_follow_up_that_cannot_be_stored_undoes_the_block(house, second, table):
    house.enqueue("elsewhere", {"a": 1}, key="k")
    codes = []

    @house.job(max_attempts=1)
    def first(job: holdfast.JobContext, what: str) -> None:
        if what == "follow_up":
            job.follow_up(second.using(key="k").call(step=2))
        with pytest.raises(HoldfastError) as refused, job.transaction() as tx:
            tx.execute("insert into mine values ('written')")
            tx.result = object() if what == "result" else None
        codes.append(refused.value.code)

    first.enqueue(what="result")
    first.enqueue(what="follow_up")
    drain(house)
    assert codes == ["RESULT_UNSTORABLE", "KEY_CONFLICT"]
    assert notes(house) == []


def test_on_sqlite_a_block_takes_a_second_at_most(house, table):
    codes = []

    @house.job(max_attempts=1)
    def first(job: holdfast.JobContext) -> None:
        with job.transaction() as tx:
            tx.execute("insert into mine values ('written')")
            time.sleep(1.1)

    handle = first.enqueue()
    drain(house)
    job = house.get(handle.id)
    if house.url.startswith("sqlite"):
        assert (job.status, job.error["code"], notes(house)) == (Status.DEAD_LETTER, "TRANSACTION_TOO_LONG", [])
    else:
        assert (job.status, notes(house)) == (Status.COMPLETED, ["written"])
    assert codes == []


async def test_a_worker_gives_the_slot_back_and_sends_no_second_ending(house, table, second):
    go = threading.Event()

    @house.job
    def first(job: holdfast.JobContext, number: int) -> str:
        with job.transaction() as tx:
            tx.execute(f"insert into mine values ('{number}')")
            tx.result = number
        go.wait(5)
        if number == 1:
            raise ValueError("after all")
        return "ignored"

    async with house.worker(threads=4):
        handles = [await first.aenqueue(number=number) for number in range(3)]
        assert [await handle.aresult(timeout=10) for handle in handles] == [0, 1, 2]
        go.set()
        assert await (await second.aenqueue()).aresult(timeout=10) == 2
    assert [house.get(handle.id).attempts for handle in handles] == [1, 1, 1]
    assert notes(house) == ["0", "1", "2"]


def drain_one(app):
    """The run that was overtaken, and not its successor."""
    with pytest.raises(AssertionError):
        drain(app, most=1)
