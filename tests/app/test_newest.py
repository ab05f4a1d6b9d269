"""Newest wins through the public API."""

from __future__ import annotations

import asyncio

import pytest

import holdfast


@pytest.fixture
def begun():
    return asyncio.Event()


@pytest.fixture
def index(app, begun):
    @app.job
    async def index(document: str, version: int) -> int:
        del document
        begun.set()
        if version == 1:
            await asyncio.sleep(0.3)
            raise holdfast.Retry(after=60)
        return version

    return index


def test_an_enqueue_tells_what_became_of_it(app, index):
    newest = index.using(coalesce_key="a", sequence=2)
    first = newest.enqueue(document="a", version=2)
    assert (first.outcome, first.created) == ("created", True)
    assert index.using(coalesce_key="a", sequence=3).enqueue(document="a", version=3).outcome == "replaced"
    late = newest.enqueue(document="a", version=2)
    assert (late.id, late.outcome, late.created) == (first.id, "discarded", False)
    assert first.job().payload["version"] == 3
    assert app.handle(first.id).outcome == "found"


async def test_the_result_of_an_overtaken_job_is_that_of_its_successor(app, index, begun):
    newest = index.using(coalesce_key="a")
    first = await newest.aenqueue(document="a", version=1)
    async with app.worker():
        await begun.wait()
        second = await newest.aenqueue(document="a", version=2)
        assert second.id != first.id
        assert app.explain(second.id)["reasons"][0]["code"] == "BEHIND"
        assert await first.aresult(timeout=20) == 2
        assert await asyncio.to_thread(first.result, 20) == 2
    assert first.job().error["code"] == "SUPERSEDED"


def test_many_are_folded(app, index):
    handles = app.enqueue_many([index.using(coalesce_key="a").call(document="a", version=n) for n in range(5)])
    assert len({handle.id for handle in handles}) == 1
    assert [handle.outcome for handle in handles] == ["created"] + ["replaced"] * 4
    assert handles[0].job().payload["version"] == 4


def test_it_goes_with_the_caller_s_transaction(app, index):
    def undone():
        with app.transaction():
            index.using(coalesce_key="a", sequence=9).enqueue(document="a", version=9)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        undone()
    assert index.using(coalesce_key="a", sequence=1).enqueue(document="a", version=1).outcome == "created"
