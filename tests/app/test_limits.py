"""Limits as an application has them: keys of jobs, limits of the code and of a person, the limiter."""

from __future__ import annotations

import asyncio
import time

import pytest

from holdfast import App
from holdfast.model.errors import BadInput, Conflict, NotFound
from holdfast.testing import Clock, drain
from tests.patience import within


def test_keys_are_given_by_the_handler_by_a_function_or_by_the_call(app: App):
    @app.job(limits=["domain:a"])
    def fixed(x: int) -> int:
        return x

    @app.job(limits=lambda url, **_: [f"domain:{url}"])
    def worked_out(url: str, depth: int = 1) -> str:
        return url * depth

    assert app.get(fixed.enqueue(1).id).limits == ("domain:a",)
    assert app.get(worked_out.enqueue("b").id).limits == ("domain:b",)
    assert app.get(worked_out.enqueue(url="c", depth=2).id).limits == ("domain:c",)
    assert app.get(app.enqueue("worked_out", {"url": "d"}).id).limits == ("domain:d",)
    assert app.get(fixed.using(limits=["x", "y"]).enqueue(1).id).limits == ("x", "y")
    assert len(drain(app).ran) == 5


@pytest.mark.parametrize("keys", [["a", "b", "c", "d", "e"], ["fair:x"], ["exclusive:x"], [3], [""]])
def test_bad_keys_are_refused(app: App, keys):
    with pytest.raises(BadInput):
        app.enqueue("any", {}, limits=keys)
    with pytest.raises(BadInput):
        app.job(limits=keys)(lambda: None)


@pytest.mark.parametrize(
    "says",
    [
        {},
        {"concurrency": -1},
        {"concurrency": True},
        {"concurrency": 1, "scope": "planet"},
        {"rate": -1},
        {"rate": "fast"},
        {"rate": 1, "per": 0},
        {"rate": 1, "scope": "host"},
        {"rate": 1, "burst": 0},
        {"concurrency": 1, "burst": 2},
    ],
    ids=repr,
)
def test_bad_limits_are_refused(app: App, says):
    with pytest.raises(BadInput):
        app.limit("x", **says)


@pytest.mark.parametrize("weights", [{"a": 0}, {"a": 101}, {"": 1}, [1], {"a": 1.5}], ids=repr)
def test_bad_shares_are_refused(app: App, weights):
    with pytest.raises(BadInput):
        app.limits.fair("x", weights)


def test_limits_are_told_in_words(app: App):
    app.limits.fair("x", {"acme": 2})
    app.limits.fair("y")
    assert [limit.words() for limit in app.limits()] == ["tenants take turns (acme: 2)", "tenants take turns"]
    assert app.limits.get("fair:x").as_json()["weights"] == {"acme": 2}


def test_names_of_rules_are_not_for_limits(app: App):
    for bad in ("fair:x", "exclusive:x"):
        with pytest.raises(BadInput):
            app.limit(bad, concurrency=1)
    with pytest.raises(BadInput):
        app.exclusive()


def test_what_the_code_says_is_stored_when_work_begins_and_a_person_has_the_last_word(app: App):
    app.limit("domain", concurrency=1)
    app.fair("images", weights={"acme": 2})
    app.exclusive("gpu", "browser")
    assert app.limits() == []
    drain(app)
    assert [limit.name for limit in app.limits()] == ["domain", "exclusive:browser+gpu", "fair:images"]
    assert app.limits.get("domain").source == "code"
    changed = app.limits.set("domain", concurrency=5)
    assert (changed.concurrency, changed.source) == (5, "runtime")
    drain(app)
    assert app.limits.get("domain").concurrency == 5
    app.limit("domain", concurrency=2)
    drain(app)
    assert app.limits.get("domain").concurrency == 5
    assert app.limits.reset("domain").concurrency == 2
    app.limit("domain", concurrency=3)
    drain(app)
    assert app.limits.get("domain").concurrency == 3
    assert app.limits.drop("domain").removed
    drain(app)
    assert app.limits.get("domain").removed
    with pytest.raises(NotFound):
        app.limits.drop("domain")
    assert not app.limits.reset("domain").removed
    assert app.limits.reset("fair:images").weights == (("acme", 2),)


def test_a_limit_made_at_run_time_is_forgotten_when_it_is_dropped(app: App):
    app.limits.set("api", rate=5)
    with pytest.raises(Conflict):
        app.limits.reset("api")
    app.limits.exclusive("a", "b")
    app.limits.drop("api")
    assert [limit.name for limit in app.limits()] == ["exclusive:a+b"]
    with pytest.raises(NotFound):
        app.limits.get("api")


def test_scheduled_jobs_keep_their_keys(app: App, clock: Clock):
    @app.job(limits=["domain:a"])
    def poll() -> None: ...

    app.schedule("often", poll, every=60)
    drain(app)
    clock.advance(61)
    drain(app)
    assert [job.limits for job in app.jobs()] == [("domain:a",)]


def test_the_limiter_paces_calls(tmp_path):
    with App(f"sqlite:///{tmp_path}/jobs.db") as app:
        app.limits.set("wikidata", rate=50)
        limiter = app.limiter("wikidata")
        begin = time.monotonic()
        assert all(limiter.acquire() for _ in range(11))
        assert 0.18 <= time.monotonic() - begin < within(1)
        limiter.penalise(0.3)
        assert limiter.acquire(timeout=0.1) is False
        begin = time.monotonic()
        assert limiter.acquire(timeout=5)
        assert time.monotonic() - begin > 0.2


async def test_the_limiter_can_be_awaited(tmp_path):
    with App(f"sqlite:///{tmp_path}/jobs.db") as app:
        app.limits.set("wikidata", rate=50)
        limiter = app.limiter("wikidata")
        begin = time.monotonic()
        assert all(await asyncio.gather(*(limiter.aacquire() for _ in range(11))))
        assert time.monotonic() - begin >= 0.18
        await limiter.apenalise(30)
        assert not await limiter.aacquire(timeout=1)
        assert await app.limiter("unknown").aacquire()


@pytest.mark.parametrize("nothing", [{"rate": 0}, {"concurrency": 0}])
def test_the_limiter_lets_nobody_through_where_nothing_may_start(tmp_path, nothing):
    with App(f"sqlite:///{tmp_path}/jobs.db") as app:
        app.limits.set("wikidata", **nothing)
        assert app.limiter("wikidata").acquire() is False
