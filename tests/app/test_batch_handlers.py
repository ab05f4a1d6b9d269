"""Handlers that take many jobs at a time: `@app.job(batch=20)`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

import holdfast
from holdfast.model.status import Status
from holdfast.testing import drain


class Model(BaseModel):
    path: str
    size: int = 1


@dataclass
class Record:
    path: str
    size: int = 1


class Typed(TypedDict):
    path: str


def seen_by(kind: Any) -> Any:
    async def look(jobs: list[Any]) -> list[str]:
        return [type(job).__name__ for job in jobs]

    look.__annotations__["jobs"] = list[kind]
    return look


@pytest.mark.parametrize(
    ("kind", "name"), [(Model, "Model"), (Record, "Record"), (Typed, "dict"), (dict, "dict"), (dict[str, str], "dict")]
)
def test_the_type_in_the_list_is_the_schema_of_one_job(app, kind, name):
    look = app.job(batch=5)(seen_by(kind))
    handle = look.enqueue(path="a")
    drain(app)
    assert handle.result(timeout=0) == name


@pytest.mark.parametrize("kind", [Model, Record, Typed])
def test_a_payload_is_checked_when_it_is_enqueued(app, kind):
    look = app.job(batch=5)(seen_by(kind))
    with pytest.raises(holdfast.PayloadError, match="path"):
        look.enqueue(path=7)
    with pytest.raises(holdfast.PayloadError, match="paht: no such parameter; did you mean path"):
        look.enqueue(path="a", paht="b")
    assert look.using(priority=1).enqueue("a").job().payload["path"] == "a"
    with pytest.raises(holdfast.PayloadError):
        look.enqueue("a", 1, 2, 3)
    assert "path" in look.definition.signature.json_schema()["properties"]


def one_list_and_more(jobs: list[dict], more: list[dict]) -> list: ...


def no_list(path: str) -> list: ...


def nothing() -> list: ...


def numbers_only(jobs: list[int]) -> list: ...


@pytest.mark.parametrize("function", [one_list_and_more, no_list, nothing, numbers_only])
def test_a_function_that_takes_no_list_cannot_be_one(app, function):
    handler = app.job(batch=5)(function)
    with pytest.raises(holdfast.BadInput, match="cannot be a handler"):
        handler.enqueue()


@pytest.mark.parametrize(
    "settings",
    [
        {"batch": 0},
        {"batch": "many"},
        {"batch": 501},
        {"batch": 5, "isolation": "process"},
        {"batch_wait": 0.1},
        {"batch": 5, "batch_wait": 2},
        {"batch": 5, "batch_wait": -1},
    ],
)
def test_settings_that_cannot_be_are_refused(app, settings):
    with pytest.raises(holdfast.BadInput):
        app.job(**settings)(nothing)


async def ended(*handles: holdfast.Handle) -> list[Status]:
    for handle in handles:
        for _ in range(500):
            if handle.job().ended or handle.job().failed:
                break
            await asyncio.sleep(0.01)
    return [handle.status() for handle in handles]


async def test_each_job_has_an_outcome_of_its_own(app):
    calls = []

    @app.job(batch=20, max_attempts=2)
    async def embed(jobs: list[Model], contexts: list[holdfast.JobContext]) -> list[Any]:
        calls.append([job.path for job in jobs])
        assert [context.attempt for context in contexts] == [1] * len(jobs)
        contexts[0].progress(1, 2)
        return ["done", holdfast.Permanent("no"), holdfast.Retry(after=60), holdfast.Snooze(60), ValueError("x")]

    handles = [embed.enqueue(path=name) for name in "abcde"]
    async with app.worker():
        statuses = await ended(*handles[:3])
    assert calls == [["a", "b", "c", "d", "e"]]
    assert statuses == [Status.COMPLETED, Status.FAILED, Status.QUEUED]
    assert [handle.job().attempts for handle in handles] == [1, 1, 1, 0, 1]
    assert [handle.job().failed for handle in handles] == [0, 1, 1, 0, 1]
    assert handles[0].job().progress["total"] == 2


@pytest.mark.parametrize("answer", [[1], None, "text", [1, 2, 3]])
async def test_a_wrong_number_of_outcomes_fails_all(app, answer):
    @app.job(batch=20, max_attempts=1)
    def embed(jobs: list[Model]) -> Any:
        return answer

    handles = [embed.enqueue(path=name) for name in "ab"]
    async with app.worker():
        assert await ended(*handles) == [Status.DEAD_LETTER] * 2
    assert "one outcome for each of its 2 jobs" in handles[0].job().error["message"]


@pytest.mark.parametrize("awaited", [True, False])
async def test_an_error_that_is_raised_is_the_outcome_of_all(app, awaited):
    async def coroutine(jobs: list[Model]) -> list[Any]:
        raise holdfast.Permanent("none of them")

    def function(jobs: list[Model]) -> list[Any]:
        raise holdfast.Permanent("none of them")

    embed = app.job(batch=20)(coroutine if awaited else function)
    handles = [embed.enqueue(path=name) for name in "ab"]
    async with app.worker():
        assert await ended(*handles) == [Status.FAILED] * 2


@pytest.mark.parametrize("awaited", [True, False])
async def test_a_stored_payload_that_no_longer_fits_fails_alone(make_app, awaited):
    app, other = make_app(), make_app()

    async def coroutine(jobs: list[Model]) -> list[Any]:
        return [job.path for job in jobs]

    def function(jobs: list[Model]) -> list[Any]:
        return [job.path for job in jobs]

    embed = app.job(batch=20, type="embed")(coroutine if awaited else function)
    bad = other.enqueue("embed", {"size": 3})
    good = embed.enqueue(path="a")
    async with app.worker():
        assert await ended(app.handle(bad.id), good) == [Status.FAILED, Status.COMPLETED]
        alone = other.enqueue("embed", {"size": 3})
        assert await ended(app.handle(alone.id)) == [Status.FAILED]


async def test_a_call_may_wait_for_more_jobs(app):
    calls = []

    @app.job(batch=4, batch_wait=0.4)
    async def embed(jobs: list[Model]) -> list[Any]:
        calls.append(len(jobs))
        return [job.path for job in jobs]

    async with app.worker(queues={"default": 1}):
        handles = []
        for name in "abcd":
            handles.append(await embed.aenqueue(path=name))
            await asyncio.sleep(0.02)
        for handle in handles:
            await handle.aresult(timeout=5)
        late = await embed.aenqueue(path="e")
        await late.aresult(timeout=5)
    assert calls == [4, 1]


async def test_other_handlers_share_the_places(app):
    running: list[str] = []
    most = 0

    @app.job(batch=2)
    async def embed(jobs: list[Model]) -> list[Any]:
        return await work("embed", [job.path for job in jobs])

    @app.job
    async def plain(n: int) -> Any:
        return await work("plain", n)

    async def work(name: str, value: Any) -> Any:
        nonlocal most
        running.append(name)
        most = max(most, len(running))
        await asyncio.sleep(0.02)
        running.remove(name)
        return value

    handles = [embed.enqueue(path=str(n)) for n in range(6)] + [plain.enqueue(n=n) for n in range(3)]
    async with app.worker(queues={"default": 1}):
        for handle in handles:
            await handle.aresult(timeout=5)
    assert most == 1


def test_a_map_over_such_a_handler_makes_one_job_an_item(app):
    @app.job(batch=3)
    def embed(jobs: list[Model]) -> list[Any]:
        return [job.path for job in jobs]

    batch = app.map(embed, [{"path": "a"}, {"path": "b"}])
    assert [job.item for job in app.jobs()] == [1, 0]
    drain(app)
    assert [value for _, _, value in batch.results()] == ["a", "b"]
    with pytest.raises(holdfast.BadInput, match="leave chunk out"):
        app.map(embed, [], chunk=10)
