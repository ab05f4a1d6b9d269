"""How the public API looks to a type checker. Lines marked `# error:` must be errors, and no others."""

from __future__ import annotations

from typing import Any, assert_type

import holdfast

app = holdfast.App("sqlite:///jobs.db", imports=["mysite.jobs"], max_depth={"default": 100})


@app.job(queue="images", max_attempts=5, timeout=30)
async def thumbnail(path: str, width: int = 200) -> dict[str, int]:
    return {path: width}


@app.job
def report(day: str) -> int:
    return len(day)


@app.job(type="mail.send", backoff=holdfast.Backoff(base_ms=500), permanent=(ValueError,))
def send(context: holdfast.JobContext, to: str) -> None:
    context.progress(1, 2, "half")
    assert_type(context.attempt, int)
    assert_type(context.cancelled, bool)


@app.job(batch=20, batch_wait=0.1)
async def embed(jobs: list[dict[str, Any]]) -> list[int]:
    return [len(job) for job in jobs]


@app.job(batch=20)
def store(jobs: list[dict[str, Any]], contexts: list[holdfast.JobContext]) -> list[int]:
    return [len(job) for job in jobs if contexts]


handle = thumbnail.enqueue(path="a.png")
assert_type(handle, holdfast.Handle)
assert_type(embed.enqueue(path="a.png"), holdfast.Handle)  # the arguments of one job
assert_type(store.enqueue(path="a.png"), holdfast.Handle)
batch = app.map(thumbnail, ({"path": name} for name in "abc"), chunk=2, callback=report.call("monday"), group="g")
assert_type(batch.id, str)
assert_type(batch.progress(), dict[str, Any])
assert_type(handle.id, str)
assert_type(handle.created, bool)
assert_type(handle.status(), holdfast.Status)
thumbnail.enqueue("a.png", 100)
thumbnail.delay(path="a.png")
thumbnail.using(priority=1, delay=60, key="a.png").enqueue(path="a.png")
app.enqueue_many([thumbnail.call(path="a.png"), report.call("monday")])
app.enqueue("thumbnail", {"path": "a.png"}, priority=1)
assert_type(report("monday"), int)
assert_type(app.get("id"), holdfast.Job)
assert_type(app.jobs(status="queued"), list[holdfast.Job])


async def asynchronous() -> None:
    assert_type(await thumbnail("a.png"), dict[str, int])
    assert_type(await thumbnail.aenqueue(path="a.png"), holdfast.Handle)
    result: Any = await handle.aresult(timeout=10)
    print(result)  # noqa: T201  # a sample


def wrong() -> None:
    thumbnail.enqueue(path=1)  # error: arg-type
    thumbnail.enqueue()  # error: call-arg
    thumbnail.enqueue(path="a.png", wdith=3)  # error: call-arg
    thumbnail.enqueue("a.png", "wide")  # error: arg-type
    thumbnail.using(priority=1).enqueue(path=1)  # error: arg-type
    thumbnail.call(path=1)  # error: arg-type
    report(5)  # error: arg-type
    app.job(quue="images")  # error: call-overload
    app.job(priority="high")  # error: call-overload
    holdfast.App(5)  # error: arg-type
    handle.result(timeout="10")  # error: arg-type
    holdfast.Snooze("soon")  # error: arg-type


def context_is_filled_in() -> None:
    send.enqueue(to="x")
